import {
  runTool,
  SMALL_TALK,
  STRICT_MODELS,
  TASK,
  TASK_ANSWER,
  TASK_TOOLS,
} from "../clients/strict-vendors.ts";
import type { LibraryCase } from "./cases.ts";

/** Models whose vendors keep nothing: of the Responses format, and of the others. */
const MODELS = { ...STRICT_MODELS, "openai-chat": "deepseek/deepseek-reasoner" };

/**
 * How a run of an agent is continued, and what its result must be. The task needs three requests, after one for a greeting. `sent`: how many
 * items each of them sends. A session sends everything.
 */
const STATES: Readonly<Record<string, LibraryCase["expected"]>> = {
  previous_response_id: { text: TASK_ANSWER, sent: [1, 1, 1, 2] },
  conversation: { text: TASK_ANSWER, sent: [1, 1, 1, 2] },
  session: { text: TASK_ANSWER, users: 2, results: 3 },
  background: { text: SMALL_TALK, begun: "in_progress", finish: "completed" },
};

/** Lists runs of agents of OpenAI's Agents SDKs whose state the gateway keeps, and responses in the background. */
export function listAgentCases(): readonly LibraryCase[] {
  const tools = Object.fromEntries(
    Object.entries(TASK_TOOLS).map(([name, parameters]) => [name, { parameters, result: runTool(name) }]),
  );
  return Object.entries(STATES).flatMap(([state, expected]) =>
    Object.entries(MODELS).flatMap(([format, model]) =>
      [false, true].map((stream) => ({
        name: `${state}, ${format}${stream ? ", streamed" : ""}`,
        api: "agents",
        stream,
        body: { state, model, task: TASK, tools },
        expected,
      })),
    ),
  );
}
