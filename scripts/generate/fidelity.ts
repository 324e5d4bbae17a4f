import { join } from "node:path";
import { FEATURES } from "../../test/fidelity/answers/features.ts";
import { goldenAnswer } from "../../test/fidelity/answers/golden-answers.ts";
import { runFeature } from "../../test/fidelity/answers/run-answers.ts";
import { REQUEST_CASES } from "../../test/fidelity/requests/cases.ts";
import { goldenRequest } from "../../test/fidelity/requests/golden-requests.ts";
import { runRequest } from "../../test/fidelity/requests/run-requests.ts";
import { writeTable } from "../../test/fidelity/table.ts";

/** Runs the tests of fidelity, and returns docs/fidelity.md and the stored results by their paths. */
export function renderFidelity(): ReadonlyMap<string, string> {
  const goldens = [
    ...REQUEST_CASES.flatMap(([, cases]) => cases.map((one) => goldenRequest(one, runRequest(one)))),
    ...FEATURES.map((feature) => goldenAnswer(feature, runFeature(feature))),
  ];
  return new Map([
    [join(import.meta.dir, "../../docs/fidelity.md"), writeTable()],
    ...goldens.map(({ path, text }): [string, string] => [path, text]),
  ]);
}
