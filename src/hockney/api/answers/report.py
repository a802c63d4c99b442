"""The answers of `hockney report` and `hockney study`."""

from __future__ import annotations

from hockney.api.answers.base import answer
from hockney.api.cards import CardAnswer
from hockney.api.pages import ReportAnswer
from hockney.campaign.jobs import WrittenJobs
from hockney.studies.answers import ShownStudy, StudyDone, StudyLeft, StudyList, StudyPlanned

answer("report")(ReportAnswer | CardAnswer)
answer("study")(StudyDone | StudyPlanned | StudyLeft | WrittenJobs | StudyList | ShownStudy)
