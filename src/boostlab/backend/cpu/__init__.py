"""The backend of this process: compiled loops on plain threads."""
