import { call } from "../../api/client.ts";
import { type Api, type Conversation, emptyConversation, isObject } from "../../conversation/conversation.ts";
import { parseRequest } from "../../conversation/parse-request.ts";

/** The APIs as generations name them. */
const NAMES: Readonly<Record<string, Api>> = {
  "chat.completions": "chat",
  responses: "responses",
  messages: "messages",
};

/** A recorded request for the playground. */
interface Recorded {
  readonly api: Api;
  readonly models: readonly string[];
  readonly conversation: Conversation;
  /** Whether its contents were stored, and are shown. */
  readonly hasBody: boolean;
}

/**
 * Loads the request of a generation: its API and model, and its contents if they were stored whole.
 * @throws ApiError
 */
export async function loadRecorded(id: string, signal: AbortSignal): Promise<Recorded> {
  const { data } = await call("GET /api/admin/generations/{id}", { params: { id }, signal });
  const api = NAMES[data.api] ?? "chat";
  const models = [data.requested_model];
  const none = { api, models, conversation: emptyConversation(), hasBody: false };
  if (!data.has_bodies) return none;
  const body = await call("GET /api/admin/generations/{id}/bodies", { params: { id }, signal }).then(
    (stored) => (stored.data.request_truncated ? null : parseBody(stored.data.request)),
    // Stored bodies may have expired, and not every role may read them.
    () => null,
  );
  if (body === null) return none;
  return { api, models, conversation: parseRequest(api, body).conversation, hasBody: true };
}

function parseBody(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
