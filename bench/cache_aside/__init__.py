"""An application with a cache in front of SQL, and the same without one."""
