"""Programs that measure the product, one file a claim. Each prints ratios made in one run; see results.md."""
