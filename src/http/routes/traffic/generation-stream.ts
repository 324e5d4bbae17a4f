import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import { FEED_PLACES, type FeedOwner } from "../../../core/usage/generations/feed-places.ts";
import type { FeedBatch, FeedEntry, FeedRejection } from "../../../core/usage/generations/generation-feed.ts";
import type { GenerationFilter } from "../../../core/usage/generations/generation-list.ts";
import { OUTCOMES } from "../../../core/usage/records/records.ts";
import { REJECTED } from "../../../core/usage/rejections/rejection.ts";
import { ANY_REJECTION, type RejectionFilter } from "../../../core/usage/rejections/rejection-store.ts";
import { needs } from "../../api/access.ts";
import { defineEndpoint, NOTHING } from "../../api/endpoint.ts";
import { ServerEventStream } from "../../api/event-stream.ts";
import { GENERATION_FILTER, readGenerationFilter } from "../../api/generation-filter.ts";

const { from: _from, to: _to, ...OTHERS } = GENERATION_FILTER;

/** The query of a filter of the stream. */
const FILTER = {
  ...OTHERS,
  outcome: z
    .enum([...OUTCOMES, REJECTED])
    .optional()
    .describe("Only generations with this outcome. `rejected`: only rejected requests."),
};

/** How long a client waits before it connects again. Milliseconds. */
const RETRY_MS = 2_000;

/** `GET /api/admin/generations/stream`: generations that are new or have changed, as they come. */
export const streamGenerations = defineEndpoint({
  method: "GET",
  path: "/api/admin/generations/stream",
  tag: "Usage",
  summary: "Stream generations as they begin and end, and rejected requests, as server-sent events",
  needs: "gateway",
  access: needs("own"),
  query: z.strictObject(FILTER),
  response: NOTHING,
  events:
    "Events `generations` with `{data: [GenerationLine …], dropped}`: generations that have begun or changed their outcome, at most 250 in an event and two events a second. `dropped` is the number of changes that were left out because the client did not keep up. Events `rejections` with `{data: [Rejection …]}`: requests that were rejected before they became generations, if the query has no `provider`, `session_id`, `tag` or other `outcome`. After a reconnection with `Last-Event-ID`, missed changes are sent again, or an event `reset` tells the client to read the list again.",
  async handle({ query, principal, headers, deps, currentPrincipal }) {
    const filters = readStreamFilters(query, principal, deps.generation);
    let close = (): void => {};
    const stream = new ServerEventStream({
      clock: deps.clock,
      unread: deps.generation.settings.unread,
      async mayContinue() {
        const current = await currentPrincipal();
        // The principal's rights may have changed, too.
        return current !== null && isSame(readStreamFilters(query, current, deps.generation), filters);
      },
      onEnd: () => close(),
    });
    try {
      const subscriber = {
        ...filters,
        owner: ownerOf(principal),
        onBatch: (batch: FeedBatch) => stream.send(printBatch(batch)),
        onClose: () => stream.end(),
      };
      const seen = headers.get("last-event-id");
      const subscription = await deps.reports.generationFeed.subscribe(subscriber, readSeen(seen));
      if ("full" in subscription) return rejectExcess(subscription);
      close = subscription.close;
      const reset = seen !== null && !subscription.isResumed ? "event: reset\ndata: {}\n\n" : "";
      // A block without data only sets the id from which the client continues.
      stream.send(`retry: ${RETRY_MS}\nid: ${subscription.since}\n: connected\n\n${reset}`);
      return stream.respond();
    } catch (error) {
      stream.end();
      throw error;
    }
  },
});

function ownerOf(principal: ManagementPrincipal): FeedOwner | null {
  if (principal.kind === "operator") return null;
  return { accountId: principal.account.id, callerId: principal.key.userId ?? principal.key.id };
}

const BOUNDS = {
  operator: `The operator can have ${FEED_PLACES.operator} streams of generations open at a gateway. Close one.`,
  accounts: `All accounts together can have ${FEED_PLACES.accounts} open streams of generations on a gateway. Close one, or try again later.`,
  caller: `You can have ${FEED_PLACES.caller} open streams of generations on a gateway. Close one.`,
  closed: "The gateway is stopping and accepts no new streams of generations. Try again later.",
} as const;

function rejectExcess({ full }: FeedRejection): never {
  return fail("unavailable", BOUNDS[full], { metadata: { limit_source: full } });
}

/** Returns the time of the last batch that a client has seen; null if there is none, or the id is of no batch. */
function readSeen(id: string | null): number | null {
  return id !== null && /^\d{1,15}$/.test(id) ? Number(id) : null;
}

/** Which generations and which rejected requests are sent; null for none. */
interface StreamFilters {
  readonly filter: GenerationFilter | null;
  readonly rejectionFilter: RejectionFilter | null;
}

const schema = z.object(FILTER);

/**
 * Returns the filters of a query of the stream, restricted to what the principal may see.
 * @throws GatewayError as `readGenerationFilter`.
 */
export function readStreamFilters(
  { outcome, ...query }: z.infer<typeof schema>,
  principal: ManagementPrincipal,
  deps: Parameters<typeof readGenerationFilter>[2],
): StreamFilters {
  const others = outcome === REJECTED ? query : { ...query, outcome };
  const filter = readGenerationFilter(others, principal, deps);
  return { filter: outcome === REJECTED ? null : filter, rejectionFilter: toRejectionFilter(filter) };
}

/** Returns the filter of rejected requests that corresponds to one of generations; null if it names what these do not have. */
function toRejectionFilter(filter: GenerationFilter): RejectionFilter | null {
  const { accountId, userId, keyId, teamId, model, errorType, provider, sessionId, tag, outcome } = filter;
  if ([provider, sessionId, tag, outcome].some((value) => value !== null)) return null;
  return { ...ANY_REJECTION, accountId, userId, keyId, teamId, model, code: errorType };
}

function isSame(a: StreamFilters, b: StreamFilters): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function printBatch({ at, entries, dropped }: FeedBatch): string {
  const print = (kind: FeedEntry["kind"]) =>
    entries
      .filter((entry) => entry.kind === kind)
      .map(({ json }) => json)
      .join(",");
  const [generations, rejections] = [print("generation"), print("rejection")];
  const rejected = `event: rejections\ndata: {"data":[${rejections}]}\n\n`;
  const changed = `event: generations\ndata: {"data":[${generations}],"dropped":${dropped}}\n\n`;
  const events = [
    ...(rejections === "" ? [] : [rejected]),
    ...(generations === "" && dropped === 0 ? [] : [changed]),
  ];
  // The id is that of the last event: a client that is cut off before gets the whole batch again.
  return `${events.slice(0, -1).join("")}id: ${at}\n${events.at(-1)}`;
}
