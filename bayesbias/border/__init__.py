"""The one place through which bytes from outside come in: opened, unpacked, measured, read, and refused in one line."""
