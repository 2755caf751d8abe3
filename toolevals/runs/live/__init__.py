"""Keep the runs that ask an agent while they last: what they are told, and the conversations."""
