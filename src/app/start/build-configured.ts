import { isDeepStrictEqual } from "node:util";
import { WaitList } from "../../base/collections/wait-list.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { GenerationSettings } from "../../core/generation/call/call.ts";
import { createUnreadAnswers } from "../../core/generation/memory/unread-answers.ts";
import { createByteBudget } from "../../core/limits/byte-budget.ts";
import { FreeLimit } from "../../core/limits/free-limit.ts";
import type { RateLimiter } from "../../core/limits/rate-limiter.ts";
import { LocalResponseMemory } from "../../core/response-objects/local-responses.ts";
import type { ConsoleDeps } from "../../http/context/console-deps.ts";
import type { HttpDeps } from "../../http/context/context.ts";
import { SHIPPED_DOCUMENTS_DIRECTORY } from "../catalog/shipped-files.ts";
import type { Config } from "../config/config-schema.ts";
import { readPricingRules } from "../config/pricing-schema.ts";
import {
  readAllowedOrigins,
  readHolderBytes,
  readLimits,
  readModelRenamer,
  readPolicy,
  readTimers,
  readTrustedProxies,
} from "../config/read-settings.ts";
import { openDocuments } from "../documents/open-documents.ts";

/** The dependencies of requests that follow from the configuration. A reload replaces them. */
export interface Configured {
  readonly http: Pick<HttpDeps, "clients" | "webhookSecret" | "browser"> & {
    readonly bodies: Pick<HttpDeps["bodies"], "maxBodyBytes" | "bodyBudget" | "bodyWaits">;
    readonly sockets: Omit<HttpDeps["sockets"], "counts">;
  };
  readonly generation: GenerationSettings;
}

/** The inputs of the configured parts besides the configuration. */
interface ConfiguredSources {
  readonly clock: Clock;
  readonly rateLimiter: RateLimiter;
  readonly buildConsole: (config: Config) => ConsoleDeps | null;
}

/**
 * Returns a function that builds the parts of a configuration. Parts that count requests in progress are rebuilt only if their own settings
 * have changed. Requests that began with the previous parts also end with them.
 */
export function createConfiguredBuilder(sources: ConfiguredSources): (config: Config) => Configured {
  const { clock, rateLimiter } = sources;
  const budget = keep((totalBytes: number, holderBytes: number) =>
    createByteBudget({ totalBytes, holderBytes, clock, onGarbage: collectGarbage }),
  );
  const bodyWaits = keep((silenceMs: number) => new WaitList(clock, silenceMs));
  const unread = keep((silenceMs: number, bytes: number) => createUnreadAnswers(clock, silenceMs, bytes));
  const localResponses = keep(
    (chainBytes: number, totalBytes: number) => new LocalResponseMemory({ chainBytes, totalBytes }),
  );
  const listLimits = keep((limits: Config["limits"]) => readLimits({ limits }));
  const documents = openDocuments(SHIPPED_DOCUMENTS_DIRECTORY);
  return (config) => {
    const { limits, server, timers, billing, responses } = config;
    return {
      http: {
        clients: {
          trustedProxies: readTrustedProxies(config),
          headerAliases: Object.entries(server.header_aliases),
          allowedOrigins: readAllowedOrigins(config),
          renameModel: readModelRenamer(config),
        },
        bodies: {
          maxBodyBytes: limits.body_bytes,
          bodyBudget: budget(limits.total_body_bytes, readHolderBytes(config)),
          bodyWaits: bodyWaits(timers.client_silence_ms),
        },
        sockets: {
          limits: {
            total: limits.websockets,
            perKey: limits.websockets_per_key,
            perAddress: limits.websockets_per_address,
          },
          memory: localResponses(responses.chain_bytes, responses.websocket_bytes),
        },
        webhookSecret: billing.webhook_secret ?? null,
        browser: {
          console: sources.buildConsole(config),
          oidcIssuer: config.console.oidc?.issuer ?? null,
          documents,
        },
      },
      generation: {
        freeLimit: new FreeLimit(rateLimiter, limits.free_requests_per_hour),
        listLimits: listLimits(limits),
        policy: readPolicy(config),
        holdBounds: { tokens: limits.hold_tokens, searches: limits.hold_searches },
        buyCreditsUrl: billing.buy_credits_url ?? null,
        timers: readTimers(config),
        unread: unread(timers.client_silence_ms, limits.total_unread_bytes),
        maxAttempts: limits.attempts,
        repeats: limits.repeats,
        learnsRefusals: config.routing.learn_refused_parameters,
        pricing: readPricingRules(config.pricing),
        chargesAbandoned: config.pricing.charge_abandoned,
      },
    };
  };
}

/**
 * Collects garbage immediately. Many large bodies arrive, or end, faster than the runtime notices what they leave behind (docs/adr/0008-freed-pages-stay.md).
 */
function collectGarbage(): void {
  Bun.gc(true);
}

/** Returns a function that builds again only if its arguments have changed since the last call. */
export function keep<Args extends readonly unknown[], Built>(
  build: (...args: Args) => Built,
): (...args: Args) => Built {
  let last: { readonly args: Args; readonly built: Built } | null = null;
  return (...args) => {
    if (last === null || !isDeepStrictEqual(last.args, args)) last = { args, built: build(...args) };
    return last.built;
  };
}
