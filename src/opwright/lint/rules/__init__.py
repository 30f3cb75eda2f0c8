"""The rules, one file each: documentation, check and message of what it finds."""
