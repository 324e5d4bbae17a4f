import { computed, signal } from "@preact/signals";
import {
  type Api,
  type Conversation,
  emptyConversation,
  type ToolResult,
  type Turn,
  type UserTurn,
} from "../../conversation/conversation.ts";
import { toApiError } from "../../state/load.ts";
import { cutAfter, removeTurn, replaceText } from "./edit-entries.ts";
import { forgetPlaygroundKey, getPlaygroundKey } from "./playground-key.ts";
import { toTurn } from "./read-answer.ts";
import { type Run, send } from "./send.ts";

/** A turn of a lane. An answer has its run; answers of a shared or captured request have none. */
export interface Entry {
  readonly turn: Turn;
  readonly run: Run | null;
}

/** A model and its own conversation. With several lanes each turn goes to all of them. */
export interface Lane {
  readonly id: number;
  readonly model: string;
  readonly entries: readonly Entry[];
}

/** The settings that all lanes share. */
type Settings = Omit<Conversation, "turns">;

/** The sandbox answers without any provider, and free models need no credits. */
export const SANDBOX = "sandbox/echo:free";
export const MAX_LANES = 4;
/** The maximum number of rounds of calls that are answered automatically, so that a model cannot call tools forever. */
const MAX_ECHOES = 5;

const { turns: _, ...DEFAULTS } = emptyConversation();
let lastId = 0;

const newLane = (model: string): Lane => {
  lastId += 1;
  return { id: lastId, model, entries: [] };
};

export const api = signal<Api>("chat");
export const settings = signal<Settings>(DEFAULTS);
export const lanes = signal<readonly Lane[]>([newLane(SANDBOX)]);
/** Whether calls are answered with their own arguments instead of by hand. */
export const echoesTools = signal(false);
/** The lane whose request and response the wire column shows. */
export const wireLane = signal<number | null>(null);
/** The account that pays, which only the operator can choose; null for the own one. */
export const payer = signal<string | null>(null);
/** Why no request could be sent; null if it could. */
export const keyError = signal<string | null>(null);

/** The lanes that wait for an answer or receive one. */
export const running = signal<ReadonlySet<number>>(new Set());
export const isRunning = computed(() => running.value.size > 0);

const controllers = new Map<number, AbortController>();

/** Returns the last run of a lane; null before the first. */
export function lastRun({ entries }: Lane): Run | null {
  return entries.findLast(({ run }) => run !== null)?.run ?? null;
}

/** Returns the conversation of a lane. Answers without text and calls, such as failed ones, are left out. */
export function conversationOf({ entries }: Lane): Conversation {
  const turns = entries
    .map(({ turn }) => turn)
    .filter((turn) => turn.role !== "assistant" || turn.text !== "" || turn.calls.length > 0);
  return { ...settings.value, turns };
}

/** Changes settings. */
export function changeSettings(changes: Partial<Settings>): void {
  settings.value = { ...settings.value, ...changes };
}

/** Sets the models. A lane whose model stays keeps its conversation; the first one's goes to a new model. */
export function setModels(models: readonly string[]): void {
  const before = lanes.value;
  const chosen = models.length === 0 ? [SANDBOX] : models.slice(0, MAX_LANES);
  lanes.value = chosen.map(
    (model, i) => before.find((lane) => lane.model === model) ?? changeModel(before, i, model),
  );
}

function changeModel(before: readonly Lane[], index: number, model: string): Lane {
  const lane = newLane(model);
  const source = before[index] ?? before[0];
  // Further models see what was said so far, so that the next turn can be compared.
  return { ...lane, entries: (source?.entries ?? []).filter(({ run }) => run?.status !== "running") };
}

/** Begins a new conversation with the same settings. */
export function clearConversation(): void {
  stop();
  lanes.value = lanes.value.map(({ model }) => newLane(model));
}

/** Shows a request in place of the present one. */
export function openRequest(request: {
  readonly api: Api;
  readonly models: readonly string[];
  readonly conversation: Conversation;
}): void {
  stop();
  const { turns, ...rest } = request.conversation;
  api.value = request.api;
  settings.value = rest;
  const entries = turns.map((turn) => ({ turn, run: null }));
  lanes.value = request.models.slice(0, MAX_LANES).map((model) => ({ ...newLane(model), entries }));
}

/** Sends a turn to all models. */
export function sendTurn(turn: UserTurn): void {
  for (const { id } of lanes.value) {
    append(id, { turn, run: null });
    void runLane(id);
  }
}

/** Whether the conversation of a lane ends with a turn that has no answer, like that of a recorded request. */
export const hasOpenTurn = computed(() =>
  lanes.value.some(({ entries }) => {
    const last = entries.at(-1)?.turn.role;
    return last === "user" || last === "tool";
  }),
);

/** Sends the conversations as they are. */
export function sendAgain(): void {
  for (const { id } of lanes.value) void runLane(id);
}

/** Sends the results of calls to the model that made them. */
export function sendResults(laneId: number, results: readonly ToolResult[]): void {
  append(laneId, { turn: { role: "tool", results }, run: null });
  void runLane(laneId);
}

/** Sends the last request of a lane again. The new answer takes the place of the last one. */
export function retry(laneId: number): void {
  update(laneId, (entries) => (entries.at(-1)?.turn.role === "assistant" ? entries.slice(0, -1) : entries));
  void runLane(laneId);
}

/** Removes a turn, in all lanes that have it: a message was sent to all models. */
export function deleteTurn(turn: Turn): void {
  updateAll((entries) => removeTurn(entries, turn));
}

/** Changes the text of a message or an answer, in all lanes that have it. */
export function editTurn(turn: Turn, changed: string): void {
  updateAll((entries) => replaceText(entries, turn, changed));
}

/** Changes the text of a message and sends it again to all models that got it. What was said after it is removed. */
export function sendEdited(turn: Turn, changed: string): void {
  const asked = lanes.value.filter(({ entries }) => entries.some((entry) => entry.turn === turn));
  for (const { id } of asked) {
    update(id, (entries) => replaceText(cutAfter(entries, turn), turn, changed));
    void runLane(id);
  }
}

/** Stops all answers under way. What has come stays. */
export function stop(): void {
  for (const controller of controllers.values()) controller.abort();
  controllers.clear();
}

function updateAll(change: (entries: readonly Entry[]) => readonly Entry[]): void {
  for (const { id } of lanes.value) update(id, change);
}

function update(laneId: number, change: (entries: readonly Entry[]) => readonly Entry[]): void {
  lanes.value = lanes.value.map((lane) =>
    lane.id === laneId ? { ...lane, entries: change(lane.entries) } : lane,
  );
}

function append(laneId: number, entry: Entry): void {
  update(laneId, (entries) => [...entries, entry]);
}

function showRun(laneId: number, run: Run): void {
  update(laneId, (entries) => {
    const entry = { turn: toTurn(run.answer), run };
    return entries.at(-1)?.run?.status === "running" ? [...entries.slice(0, -1), entry] : [...entries, entry];
  });
}

async function runLane(laneId: number): Promise<void> {
  running.value = new Set([...running.value, laneId]);
  for (let round = 0; round <= MAX_ECHOES; round += 1) {
    const run = await runOnce(laneId);
    const calls = run?.status === "done" ? run.answer.calls : [];
    if (!echoesTools.value || calls.length === 0 || round === MAX_ECHOES) break;
    const results = calls.map(({ id, name, arguments: json }) => ({ callId: id, name, text: json || "{}" }));
    append(laneId, { turn: { role: "tool", results }, run: null });
  }
  running.value = new Set([...running.value].filter((id) => id !== laneId));
}

/** Sends one request of a lane. Resolves with its run; null if no request could be sent. */
async function runOnce(laneId: number): Promise<Run | null> {
  const lane = lanes.value.find(({ id }) => id === laneId);
  if (lane === undefined) return null;
  const controller = new AbortController();
  controllers.set(laneId, controller);
  keyError.value = null;
  const key = await getPlaygroundKey(payer.value).catch((error: unknown) => {
    keyError.value = toApiError(error).message;
    return null;
  });
  // Without a key only free models answer.
  if (key === null && !lane.model.endsWith(":free")) return null;
  if (key === null) keyError.value = null;
  const run = await send({
    api: api.value,
    model: lane.model,
    conversation: conversationOf(lane),
    key,
    signal: controller.signal,
    onUpdate: (partial) => {
      if (controllers.get(laneId) === controller) showRun(laneId, partial);
    },
  });
  if (run.wire.status === 401) forgetPlaygroundKey();
  showRun(laneId, run);
  if (controllers.get(laneId) === controller) controllers.delete(laneId);
  return run;
}
