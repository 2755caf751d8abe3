"""Makes every change of traces."""
