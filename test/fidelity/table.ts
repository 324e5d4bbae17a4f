import type { AnswerFeature } from "./answers/features.ts";
import { FEATURES } from "./answers/features.ts";
import { type AnswerRun, runFeature } from "./answers/run-answers.ts";
import { CLIENTS, type Client, FORMATS } from "./formats.ts";
import { REQUEST_CASES } from "./requests/cases.ts";
import type { RequestCase } from "./requests/request-case.ts";
import { runRequest } from "./requests/run-requests.ts";

/** Returns the text of docs/fidelity.md: what of a request reaches each format, and what of an answer each client API. */
export function writeTable(): string {
  const requests = REQUEST_CASES.map(([title, cases]) => writeRequests(title, cases));
  return `${INTRODUCTION}\n${requests.join("\n")}\n${ANSWERS}\n${writeAnswers()}\n`;
}

const INTRODUCTION = `# What translation preserves

This page is generated from the tests of \`test/fidelity\` by \`npm run generate\`. Each row is a request or an answer that was sent
through the codecs, and a probe for the feature in the result; the whole bodies are in \`test/fidelity/golden\`.

- **kept**: the feature is in the result, in the other format's form.
- **named**: it was left out or changed, and a warning in \`gateway_metadata.warnings\` names it.
- **refused**: a 400 that names it, because leaving it out would change what was asked.
- **–**: there is nothing to keep; the list below the table says why.

Nothing is lost without being named; a test verifies that.

## Requests

From each client API to each upstream format, for a model that supports everything its format can express; what a particular model or provider
does not accept is named in the same way. Rows of client APIs with equal results are merged. An API that cannot express a feature has no row.
`;

const ANSWERS = `## Answers

From each upstream format to each client API, whole and streamed. A format that cannot express a feature has no row.
`;

const FORMAT_HEADS = ["Chat", "Responses", "Messages", "Gemini", "Converse", "Cohere"];

function writeRequests(title: string, cases: readonly RequestCase[]): string {
  const notes = createNotes();
  const rows = cases.flatMap((one) => {
    const runs = runRequest(one);
    const clients = CLIENTS.filter((client) => one.bodies[client] !== undefined);
    const cells = (client: Client) =>
      FORMATS.map((format) => {
        const verdict = runs.find((run) => run.client === client && run.format === format)?.verdict;
        return verdict === "needless" ? notes.mark(one.needless?.[format] ?? "") : (verdict ?? "");
      });
    return groupRows(one.name, clients, cells);
  });
  return `### ${title}\n\n${printTable(["", "from", ...FORMAT_HEADS], rows)}${notes.print()}`;
}

function writeAnswers(): string {
  const notes = createNotes();
  const rows = FEATURES.flatMap((feature) => {
    const runs = runFeature(feature);
    const formats = FORMATS.filter((format) => runs.some((run) => run.format === format));
    const cells = (format: (typeof FORMATS)[number]) =>
      CLIENTS.map((client) => describeAnswer(feature, client, runs.find(isOf(format, client)), notes));
    return groupRows(feature.name, formats, cells, nameFormat);
  });
  return `${printTable(["", "from", "to Chat", "to Responses", "to Messages"], rows)}${notes.print()}`;
}

function isOf(format: AnswerRun["format"], client: Client) {
  return (run: AnswerRun) => run.format === format && run.client === client;
}

function describeAnswer(
  feature: AnswerFeature,
  client: Client,
  run: AnswerRun | undefined,
  notes: Notes,
): string {
  return run?.verdict === "needless" ? notes.mark(feature.needless?.[client] ?? "") : (run?.verdict ?? "");
}

function nameFormat(format: (typeof FORMATS)[number]): string {
  return FORMAT_HEADS[FORMATS.indexOf(format)] as string;
}

const CLIENT_NAMES: Readonly<Record<Client, string>> = {
  chat: "Chat",
  responses: "Responses",
  messages: "Messages",
};

/** Returns one row for all sources with equal results, in order. */
function groupRows<From extends string>(
  name: string,
  from: readonly From[],
  cells: (from: From) => readonly string[],
  print: (from: From) => string = (one) => CLIENT_NAMES[one as unknown as Client],
): string[][] {
  const groups = new Map<string, { names: string[]; cells: readonly string[] }>();
  for (const one of from) {
    const own = cells(one);
    const key = own.join("|");
    const group = groups.get(key) ?? { names: [], cells: own };
    group.names.push(print(one));
    groups.set(key, group);
  }
  return [...groups.values()].map(({ names, cells: own }, at) => [
    at === 0 ? name : "",
    names.join(", "),
    ...own,
  ]);
}

interface Notes {
  /** Returns a dash with the number of the note. */
  mark(note: string): string;
  print(): string;
}

function createNotes(): Notes {
  const notes: string[] = [];
  return {
    mark(note) {
      if (!notes.includes(note)) notes.push(note);
      return `– ${notes.indexOf(note) + 1}`;
    },
    print: () =>
      notes.length === 0
        ? ""
        : `\n${notes.map((note, at) => `${at + 1}. ${capitalise(note)}.`).join("\n")}\n`,
  };
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function printTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return `${[line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n")}\n`;
}
