"""Executors that map a function over very many items: processes of this machine, a Dask cluster, or any other."""
