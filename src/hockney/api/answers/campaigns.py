"""The answers of verbs that make, join and look at campaigns: `measure`, `import`, `merge`, `doctor`, `lab`."""

from __future__ import annotations

from hockney.api.answers.base import answer
from hockney.api.installation import DoctorAnswer, Lab, LabDown
from hockney.api.joined import ImportAnswer, MergeAnswer
from hockney.campaign.answers import MeasureAnswer, MeasurePlanned
from hockney.campaign.jobs import WrittenJobs
from hockney.studies.status import Status

answer("status")(Status)
answer("measure")(MeasureAnswer | WrittenJobs | MeasurePlanned)
answer("import")(ImportAnswer)
answer("merge")(MergeAnswer)
answer("doctor")(DoctorAnswer)
answer("lab up")(Lab)
answer("lab down")(LabDown)
answer("lab run")(object)
