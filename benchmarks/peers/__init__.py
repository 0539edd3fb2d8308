"""Servers that the product is measured against, each as small as an honest use of it can be."""
