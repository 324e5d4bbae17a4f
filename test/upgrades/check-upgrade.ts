import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Check, checkOnce } from "../books/check.ts";
import { Api } from "./api.ts";
import { ANSWER_COST, Installation, type Servers } from "./installation.ts";
import {
  KNOWN_CHANGES,
  KNOWN_CHANGES_BACK,
  KNOWN_OUTCOMES,
  KNOWN_SPENDING,
  knownOf,
  STORES_NOTHING,
} from "./known-changes.ts";
import { probe } from "./probe.ts";
import type { Program } from "./program.ts";
import { compareStates, readState, type State } from "./read-state.ts";
import { ask, CLIENT_APIS, type ClientApi } from "./requests.ts";
import type { Upstream } from "./upstream.ts";
import { type WrittenData, writeData } from "./write-data.ts";
import { LATER_PRESET, readLaterData, writeLaterData } from "./write-later-data.ts";

/** An upgrade and the way back. */
export interface Upgrade {
  readonly earlier: Program;
  readonly later: Program;
  /** Null: on SQLite. */
  readonly servers: Servers | null;
  readonly upstream: Upstream;
  /** Whether the earlier version works on the tables of the later one. */
  readonly isShared: boolean;
}

/**
 * Upgrades an installation that was killed in the middle of its work, and goes back. The earlier version runs on a copy of the same data:
 * after its recovery, both must say the same.
 */
export async function checkUpgrade(upgrade: Upgrade): Promise<Check[]> {
  const { earlier, later, servers, upstream } = upgrade;
  const name = `${earlier.name} to ${later.name}, ${servers === null ? "SQLite" : "PostgreSQL"}`;
  const checks: Check[] = [];
  const add = (property: string, broken: readonly string[]): void => {
    checks.push(checkOnce(`${name}: ${property}`, broken));
  };
  const installation = await Installation.create(upstream.url, servers);
  const installations = [installation];
  try {
    await installation.start(earlier);
    const api = await Api.open(installation.url);
    const written = await writeData(api, installation);
    await writeByCommands(installation, earlier);
    const { data, answered } = await killAtWork(api, installation, written);
    const reference = await installation.copy();
    const saved = await installation.copy();
    installations.push(reference, saved);
    await save(saved, earlier);

    const before = await runEarlier(reference, { ...upgrade, api, data });
    add("the test reads and writes all that the earlier API stores", findUntested(api));
    await installation.start(later);
    const laterApi = await Api.open(installation.url);
    const after = await readState(laterApi, api, data);
    add(
      "every field of the API has its value after the upgrade",
      compareStates(before.state, after, knownOf(KNOWN_CHANGES, earlier)),
    );
    add("what was answered before the kill is charged, and nothing is open", findUnsettled(after, answered));
    const probed = await probe(laterApi, api, data, upstream);
    add(
      "keys, limits, policies, BYOK keys and names do what they did",
      compareStates(before.probed, probed, knownOf(KNOWN_OUTCOMES, earlier)),
    );
    const more = await writeLaterData(laterApi, api, data);
    const latest = await readState(laterApi, api, more);
    const kept = await readLaterData(laterApi, more);
    add("a clean stop leaves nothing in the journal", await installation.stop());
    add("commands find nothing wrong", await runCommands(installation, later));

    const back = { ...upgrade, installation, api, latest, kept, before: before.probed };
    checks.push(
      ...(upgrade.isShared
        ? await goBackShared({ ...back, data: more }, name)
        : await goBackByBackup({ ...back, data }, { saved, state: before.state }, name)),
    );
  } catch (error) {
    add("the run comes to its end", [
      error instanceof Error ? (error.stack ?? "") : String(error),
      installation.log.slice(-2_000),
    ]);
  } finally {
    for (const one of installations) await one.remove();
  }
  return checks;
}

/** Makes data by commands, as far as the version has them while a gateway runs. */
async function writeByCommands(installation: Installation, program: Program): Promise<void> {
  for (const args of [
    ["users", "create", "By command"],
    ["keys", "create", "by command"],
    ["credits", "grant", "acct_default", "7"],
  ]) {
    const { exitCode, printed } = await installation.run(program, ...args);
    if (exitCode !== 0) throw new Error(`${args.join(" ")}: ${printed}`);
  }
}

/** Kills the gateway while streams run, and right after answers that are in its journal only. */
async function killAtWork(api: Api, installation: Installation, data: WrittenData) {
  const key = data.inferenceKeys[1]?.secret ?? "";
  const hanging = CLIENT_APIS.map((client) => ask(api, { client, key, plan: "HANG", isStream: true }));
  await Bun.sleep(PROGRESS_MS);
  const answered: string[] = [];
  for (const client of CLIENT_APIS)
    for (const isStream of [true, false]) {
      const { generationId, status } = await ask(api, { client, key, plan: "ANSWER", isStream });
      if (status !== 200 || generationId === null) throw new Error(`${client.name}: ${status}`);
      answered.push(generationId);
    }
  const left = await installation.kill();
  if (left.length === 0) throw new Error("the kill has left no journal");
  const cut = (await Promise.all(hanging)).flatMap(({ generationId }) => generationId ?? []);
  return { data: { ...data, generations: [...data.generations, ...answered, ...cut] }, answered };
}

/** The progress of a stream is recorded each second. Milliseconds. */
const PROGRESS_MS = 1_700;

interface Reference extends Upgrade {
  readonly api: Api;
  readonly data: WrittenData;
}

/** Runs the earlier version on its data, and returns what it says and does. */
async function runEarlier(reference: Installation, { earlier, api, data, upstream }: Reference) {
  await reference.start(earlier);
  const own = await Api.open(reference.url);
  const state = await readState(own, api, data);
  const probed = await probe(own, api, data, upstream);
  const faults = await reference.stop();
  if (faults.length > 0) throw new Error(faults.join());
  return { state, probed };
}

/** The operations of the earlier API that store something and were not called, and those that read it. */
function findUntested({ operations, called }: Api): string[] {
  return [...operations].filter((one) => !called.has(one) && !STORES_NOTHING.has(one));
}

/** Returns what is wrong with the generations that a client had seen completely. */
function findUnsettled(state: State, answered: readonly string[]): string[] {
  const open = [...state].filter(([, answer]) => JSON.stringify(answer).includes('"outcome":"open"'));
  const uncharged = answered.flatMap((id) => {
    const answer = state.get(`generation ${id} as its key reads it`) as
      | { readonly body?: { readonly data?: { readonly total_cost?: number } } }
      | undefined;
    const cost = Math.round((answer?.body?.data?.total_cost ?? -1) * 1e9);
    return cost === ANSWER_COST ? [] : [`${id} costs ${cost} nanodollars`];
  });
  return [...uncharged, ...open.map(([request]) => `${request} has an open generation`)];
}

/** Runs the commands that check data. Returns what they find. */
async function runCommands(installation: Installation, program: Program): Promise<string[]> {
  const commands = [
    ["ledger", "check"],
    ["audit", "verify"],
    ...(program.hasBackup ? [["doctor"], ["migrate"]] : []),
  ];
  const found: string[] = [];
  for (const args of commands) {
    const { exitCode, printed } = await installation.run(program, ...args);
    if (exitCode !== 0 || printed.includes("FAILURE"))
      found.push(`${args.join(" ")}: ${exitCode}: ${printed}`);
  }
  return found;
}

interface Back extends Reference {
  /** What the later version has left, stopped. */
  readonly installation: Installation;
  /** What the later version has said last. */
  readonly latest: State;
  /** What only the later version knows. */
  readonly kept: State;
  /** What the earlier version did before the upgrade. */
  readonly before: ReadonlyMap<string, unknown>;
}

/** Starts the earlier version on what the later one has left. */
async function goBackShared(back: Back, name: string): Promise<Check[]> {
  const { installation, earlier, later, api, data, latest, before, upstream } = back;
  await installation.start(earlier);
  const own = await Api.open(installation.url);
  const state = await readState(own, api, data);
  const probed = await probe(own, api, data, upstream);
  const changed = await own.call("PATCH /api/admin/users/{id}", [data.accounts[1] ?? ""], {
    body: { name: "Ada L." },
  });
  const unknown = await askForUnknown(own, data);
  const faults = await installation.stop();
  const lost = await findLost(back);
  return [
    checkOnce(`${name}, and back: the earlier version reads what the later one has written`, [
      ...compareStates(state, latest, knownOf(KNOWN_CHANGES_BACK, earlier)),
      ...compareStates(before, probed, knownOf(KNOWN_OUTCOMES, earlier)),
    ]),
    checkOnce(
      `${name}, and back: a request for a preset of the later version is answered or rejected`,
      unknown,
    ),
    checkOnce(`${name}, back and forward: what only the later version knows is there again`, [
      ...(changed.status === 200 ? [] : [`the earlier version cannot change a user: ${changed.status}`]),
      ...lost,
    ]),
    checkOnce(`${name}, and back: a clean stop leaves nothing in the journal`, faults),
    checkOnce(`${name}, and back: commands of both versions find nothing wrong`, [
      ...(await runCommands(installation, earlier)),
      ...(await runCommands(installation, later)),
    ]),
  ];
}

/** Sends a request for the preset that only the later version may know. Returns what is wrong with its answer. */
async function askForUnknown(api: Api, { inferenceKeys }: WrittenData): Promise<string[]> {
  const [client] = CLIENT_APIS as readonly [ClientApi];
  const key = inferenceKeys[1]?.secret ?? "";
  const { status, text } = await ask(api, {
    client,
    key,
    plan: "ANSWER",
    isStream: false,
    model: LATER_PRESET,
  });
  return [200, 400, 404].includes(status) ? [] : [`${status}: ${text}`];
}

/** Starts the later version once more, and returns what it has lost of what only it knows. */
async function findLost({ installation, earlier, later, data, kept }: Back): Promise<string[]> {
  await installation.start(later);
  const again = await readLaterData(await Api.open(installation.url), data);
  return [...compareStates(kept, again, knownOf(KNOWN_SPENDING, earlier)), ...(await installation.stop())];
}

/** Restores what was saved before the upgrade, because the earlier version rejects the tables of the later one. */
async function goBackByBackup(
  { installation, earlier, api, data }: Back,
  { saved, state }: Saved,
  name: string,
): Promise<Check[]> {
  const hash = () => Bun.hash(readFileSync(join(installation.dataDir, "gateway.db"))).toString();
  const untouched = hash();
  const { exitCode, printed } = await installation.startInVain(earlier);
  const isRejected = exitCode === 1 && /newer version.*install that version/.test(printed);
  const checks = [
    checkOnce(
      `${name}, and back: the earlier version rejects the tables of the later one, and changes nothing`,
      [
        ...(isRejected ? [] : [`exit code ${exitCode}: ${printed}`]),
        ...(hash() === untouched ? [] : ["the database file has changed"]),
      ],
    ),
  ];
  const restored = await restoreSaved(installation, earlier, saved);
  await installation.start(earlier);
  const again = await readState(await Api.open(installation.url), api, data);
  return [
    ...checks,
    checkOnce(`${name}, and back: the backup of the earlier version serves as before the upgrade`, [
      ...restored,
      ...compareStates(state, again, knownOf(KNOWN_CHANGES, earlier)),
      ...(await installation.stop()),
    ]),
  ];
}

/** What was saved before an upgrade, and what the earlier version showed of it. */
interface Saved {
  readonly saved: Installation;
  readonly state: State;
}

/** The name of a backup, in the folder of the data directory. */
const BACKUP = "before-the-upgrade";

/** Makes a copy of an installation that was killed ready for a way back: with a backup by the earlier version if it has the command. */
async function save(saved: Installation, earlier: Program): Promise<void> {
  await saved.start(earlier);
  if (earlier.hasBackup && saved.kind === "sqlite") {
    const { exitCode, printed } = await saved.run(
      earlier,
      "backup",
      "create",
      BACKUP,
      "--include-master-key",
    );
    if (exitCode !== 0) throw new Error(printed);
  }
  const faults = await saved.stop();
  if (faults.length > 0) throw new Error(faults.join());
}

async function restoreSaved(
  installation: Installation,
  earlier: Program,
  saved: Installation,
): Promise<string[]> {
  if (!earlier.hasBackup) {
    installation.restoreCopy(saved);
    return [];
  }
  const { exitCode, printed } = await installation.restore(earlier, join(saved.dataDir, "..", BACKUP));
  return exitCode === 0 ? [] : [`exit code ${exitCode}: ${printed}`];
}
