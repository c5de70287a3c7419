import pytest

import pytest_webeval as webeval


class ExplainedResponse(webeval.ResponseEvaluator):  # the usual checks, and whoever gives up has to say why
    def evaluate(self, expectation, case):
        usual = super().evaluate(expectation, case)
        answer = usual.actual_normalized or {}
        explained = answer.get("status") == "SUCCESS" or bool(answer.get("error_details"))
        return self.adding(usual, webeval.Assertion.of("explained", explained, "SUCCESS or error_details wanted"))


class PageBudget(webeval.Evaluator):  # for tasks whose eval has {"evaluator": "PageBudgetEvaluator", "max_pages": 8}
    name = "PageBudgetEvaluator"

    def evaluate(self, expectation, case):
        pages, most = sum(event.is_navigation for event in case.run.trace.events), expectation.config["max_pages"]
        return self.result([webeval.Assertion.of("page_budget", pages <= most, f"at most {most}", f"got {pages}")])


@pytest.fixture
def webeval_response(webeval_response):
    return webeval_response.using(ExplainedResponse())


@pytest.fixture
def webeval_evaluators(webeval_evaluators):
    return [*webeval_evaluators, PageBudget()]
