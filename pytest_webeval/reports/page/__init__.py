"""The page of the report: its template, its style and its script, which are files beside this one."""
