/**
 * Replays recorded answers and exchanges through a gateway, from every client API to every upstream format, and reports
 * what was lost: `npm run suite -- replay`.
 *
 * --only=<text>    recordings whose name contains the text
 * --client=<name>  one client API: chat, responses, messages
 * --target=<name>  one target, as named in the table
 * --every=<n>      every n-th direction
 * --all            prints every loss, not only the first of each kind
 */
import { parseArgs } from "node:util";
import { reportCounts } from "../support/suite-program.ts";
import { checkEmbeddings, checkFailures } from "./other-exchanges.ts";
import { EXCHANGES, hasExchanges, readRecordings } from "./recordings.ts";
import { listDirections, type Outcome, replay } from "./replay.ts";
import { tally, writeReport } from "./report.ts";
import { startReplaySite } from "./site.ts";

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    client: { type: "string" },
    target: { type: "string" },
    every: { type: "string", default: "1" },
    all: { type: "boolean", default: false },
  },
});

if (!hasExchanges) console.log(`skipped: the recorded exchanges, because there are none at ${EXCHANGES}`);
const { answers, failures, embeddings, unsupported } = readRecordings();
const directions = listDirections(answers).filter(
  ({ client, target, recording }, place) =>
    recording.name.includes(options.only) &&
    client.name === (options.client ?? client.name) &&
    target.name === (options.target ?? target.name) &&
    place % Number(options.every) === 0,
);
const isWhole = directions.length === listDirections(answers).length && hasExchanges;
console.log(
  `replay: ${answers.length} answers, ${failures.length} failures, ${embeddings.length} embeddings, ${directions.length} directions`,
);
for (const [kind, count] of unsupported) console.log(`not supported: ${count} of ${kind}`);

const site = await startReplaySite(failures.map(({ format }) => format));
const outcomes: Outcome[] = [];
try {
  for (const direction of directions) outcomes.push(...(await replay(site, direction)));
  const others = [...(await checkEmbeddings(site, embeddings)), ...(await checkFailures(site, failures))];
  const report = writeReport(tally(outcomes), others, { isWhole, printsAll: options.all });
  console.log(report.text);
  reportCounts(report.passed, report.failed);
} finally {
  await site.stop();
}
