import { CLIENTS } from "../fidelity/formats.ts";
import { CLIENT_APIS } from "./clients.ts";
import type { Json } from "./conversation.ts";
import type { Recordings } from "./recordings.ts";
import { EMBEDDING_MODEL, failingModel, type ReplaySite } from "./site.ts";

/** A property that must hold, and where it does not. */
export interface OtherCheck {
  readonly promise: string;
  readonly cases: number;
  readonly broken: readonly string[];
}

/** Replays recorded embeddings and expects the same vectors, in the same order, with the vendor's count of tokens. */
export async function checkEmbeddings(
  site: ReplaySite,
  embeddings: Recordings["embeddings"],
): Promise<OtherCheck[]> {
  const broken: string[] = [];
  for (const { name, request, body } of embeddings) {
    const recorded = {
      format: "openai-chat",
      isStream: false,
      body: Buffer.from(body).toString("latin1"),
    } as const;
    const { status, text } = await site.ask("/embeddings", EMBEDDING_MODEL, request, recorded, null);
    const wanted: Json = JSON.parse(body);
    const got: Json = JSON.parse(Buffer.from(text, "latin1").toString("utf8"));
    const isSame =
      status === 200 && vectorsOf(got) === vectorsOf(wanted) && tokensOf(got) === tokensOf(wanted);
    if (!isSame) broken.push(`${name}: ${status} ${text.slice(0, EXCERPT)}`);
  }
  return [{ promise: "recorded embeddings reach the client", cases: embeddings.length, broken }];
}

const EXCERPT = 200;

/** Vectors are numbers, or base64 of 32-bit floats. */
function vectorsOf({ data }: Json): string {
  return JSON.stringify(
    (data ?? []).map(({ embedding }: Json) => {
      if (typeof embedding !== "string") return embedding.map(Math.fround);
      const bytes = Buffer.from(embedding, "base64");
      return Array.from({ length: bytes.length / 4 }, (_, place) => bytes.readFloatLE(4 * place));
    }),
  );
}

function tokensOf({ usage }: Json): number {
  return usage.prompt_tokens ?? usage.total_tokens;
}

/** Replays recorded failures: each client API gets an error in its own shape, and never an answer. */
export async function checkFailures(
  site: ReplaySite,
  failures: Recordings["failures"],
): Promise<OtherCheck[]> {
  const broken: string[] = [];
  for (const [place, failure] of failures.entries()) {
    for (const name of CLIENTS) {
      const client = CLIENT_APIS[name];
      const turns = [{ role: "user" as const, items: [{ kind: "text" as const, value: "Hello!" }] }];
      const body = client.write({ turns, tools: [] });
      const { status, text } = await site.ask(client.path, failingModel(place), body, failure, null);
      const message = (JSON.parse(text) as Json).error?.message;
      if (status < 400 || typeof message !== "string" || message === "")
        broken.push(`${failure.name} to ${name}: ${status} ${text.slice(0, EXCERPT)}`);
    }
  }
  return [{ promise: "a recorded failure is an error to every client", cases: failures.length, broken }];
}
