"""Keep people's tags and notes on what agents did."""
