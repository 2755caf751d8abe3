"""Shows the people who run the installation how its work goes."""
