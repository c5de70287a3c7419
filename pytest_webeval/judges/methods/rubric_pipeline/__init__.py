"""The rubric pipeline of WebTailBench: criteria, points, evidence, an outcome by votes (`fara_webeval.md` §6.4)."""
