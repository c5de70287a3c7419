"""A conftest.py for sessions in subprocesses, in which all tasks count as published: as the fixture `published`."""

ALL_PUBLISHED = """
from pytest_webeval.tasks.task import Task
Task.is_published = property(lambda task: True)
"""
