"""One small file for each format of messages; `toolevals.grading.parsing.table` lists them."""
