"""Makes every change of the workspace. Each function is one short transaction with one audit row."""
