import packageJson from "../../../package.json" with { type: "json" };
import type { Clock } from "../../base/time/clock.ts";
import { signBody } from "./render-event.ts";

/** A request that posts a JSON body to a service of the operator. */
interface JsonPost {
  readonly url: string;
  readonly body: string;
  /** Further headers. They may replace `user-agent`, but neither `content-type` nor the signature. */
  readonly headers: Readonly<Record<string, string>>;
  /** Signs the body; null for a service that does not verify it. */
  readonly secret: string | null;
  /** The longest wait until the response is read. Milliseconds. */
  readonly timeoutMs: number;
}

/** How a response, or its absence, becomes an outcome for the caller. */
interface PostReaders<Outcome> {
  readonly read: (response: Response) => Promise<Outcome>;
  /** `problem` says why there was no response; null: the time limit was exceeded. */
  readonly fail: (problem: string | null) => Outcome;
}

/** Sends a request once and returns the result of `read` or `fail`. Follows no redirect. Never rejects. */
export async function postJson<Outcome>(
  post: JsonPost,
  { read, fail }: PostReaders<Outcome>,
  clock: Pick<Clock, "now" | "after">,
): Promise<Outcome> {
  const late = new AbortController();
  const timer = clock.after(post.timeoutMs, () => late.abort());
  try {
    const response = await fetch(post.url, {
      method: "POST",
      headers: headersOf(post, clock.now()),
      body: post.body,
      redirect: "manual",
      signal: late.signal,
    });
    return await read(response);
  } catch (error) {
    return fail(late.signal.aborted ? null : describe(error));
  } finally {
    timer.cancel();
  }
}

/** Describes a status that is not a success, with the remedy for a redirect. */
export function describeStatus(status: number): string {
  const isRedirect = status >= 300 && status < 400;
  return isRedirect
    ? `status ${status}: redirects are not followed; configure the final address`
    : `status ${status}`;
}

function headersOf({ headers, secret, body }: JsonPost, now: number): Record<string, string> {
  return {
    "user-agent": `gateway/${packageJson.version}`,
    ...headers,
    "content-type": "application/json",
    ...(secret === null ? {} : { "x-gateway-signature": signBody(secret, body, now) }),
  };
}

/** The text of a connection failure may contain the URL, whose path may be a secret. */
function describe(error: unknown): string {
  const code = (error as { readonly code?: unknown }).code;
  return typeof code === "string" ? `no connection: ${code}` : "no connection";
}
