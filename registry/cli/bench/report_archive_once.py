"""One report of the archive of `bench archive`, and what it took: printed as JSON."""

import json
import resource
import sys
import time
from pathlib import Path

from registry.archive.reading import open_archive
from registry.fairness.report.figures import Algorithm, Terms
from registry.ranking.policy import DEFAULT_POLICY
from registry.usecases.archived_report import report_of_archive, window_of_archive


def main(folder: str) -> None:
    begun, cpu = time.perf_counter(), time.process_time()
    archive = open_archive(Path(folder))
    hashed_s = time.process_time() - cpu
    terms = Terms(window=window_of_archive(archive))
    algorithm = Algorithm(policy_digest=DEFAULT_POLICY.digest, code_digest="")
    made = report_of_archive(archive, algorithm, terms, DEFAULT_POLICY)
    found = {
        "rankings": made.counts.rankings,
        "seconds": round(time.perf_counter() - begun, 1),
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "cpu_s": round(time.process_time() - cpu, 1),
        "digests_cpu_s": round(hashed_s, 1),
        "queries": made.counts.queries,
        "sites": made.counts.sites,
        "scored": made.counts.scored,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
