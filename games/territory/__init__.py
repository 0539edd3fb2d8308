"""Corner-to-corner games for two to four seats."""
