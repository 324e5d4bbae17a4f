import { detailOf } from "../../../base/failures/errors.ts";
import type { Log } from "../../../base/failures/log.ts";
import { type Random, randomShare } from "../../../base/secrets/random.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { nextTurn } from "../../../base/time/next-turn.ts";
import { Stopwatch } from "../../../base/time/stopwatch.ts";
import { CLIENT_APIS } from "../../../wire/client-apis/client-apis.ts";
import { NO_HEADERS } from "../../../wire/client-apis/request/session-hints.ts";
import { printShadowBody } from "../../../wire/client-apis/shadow-body.ts";
import type { AccountPrincipal } from "../../accounts/records/principal.ts";
import { type GenerationCall, type GenerationResult, UNCOUNTED } from "../../generation/call/call.ts";
import type { AdmittedGeneration, Extension, ExtensionPoints } from "../../generation/call/extension.ts";

/** Copies that run at the same time. Further ones are dropped. */
const MAX_RUNNING = 32;
/** Memory of the bodies of copies that run or wait for their answer to begin. Bytes. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** The minimum time between two log lines about dropped copies. Milliseconds. */
const WARN_MS = 60_000;

/** The dependencies of shadow traffic. */
export interface ShadowTrafficDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Log, "warn">;
  /** Returns the account that pays for the copies: the operator's own. */
  readonly findPayer: () => Promise<AccountPrincipal>;
  readonly generate: (call: GenerationCall) => Promise<GenerationResult>;
}

/**
 * Sends copies of requests to the shadow models of groups, when their answers have begun. The answers of copies are read and discarded.
 * Their records name the original generation, and the operator pays for them (docs/named-routes.md). Callers see nothing of the copies.
 */
export class ShadowTraffic implements Extension {
  readonly name = "shadow-traffic";
  /** The numbers of copies since the start that were sent, and that were dropped because too many were running. */
  readonly counts = { sent: 0, dropped: 0 };
  private readonly running = new Set<AbortController>();
  private bodyBytes = 0;
  private isStopped = false;
  private warnedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly deps: ShadowTrafficDeps) {}

  attach(generation: AdmittedGeneration): ExtensionPoints | null {
    const { shadow } = generation;
    if (shadow === null || this.isStopped || randomShare(this.deps.random) >= shadow.share) return null;
    // A form cannot be copied with another model.
    if (!generation.call.request.isText.body) return null;
    if (this.running.size >= MAX_RUNNING) return this.drop();
    return this.copy(generation, shadow.model);
  }

  /** Cancels all copies that run. No further ones are sent. */
  stop(): void {
    this.isStopped = true;
    for (const controller of this.running) controller.abort();
  }

  private copy(generation: AdmittedGeneration, model: string): ExtensionPoints | null {
    let body: Buffer | null = null;
    const release = () => {
      this.bodyBytes -= body?.length ?? 0;
      body = null;
    };
    return {
      beforeRoute: async ({ readAppliedBody }) => {
        const applied = readAppliedBody();
        if (this.bodyBytes + applied.length > MAX_BODY_BYTES) this.drop();
        else {
          // Copied now: encoding for an upstream may overwrite the body.
          body = printShadowBody(applied, model);
          this.bodyBytes += body.length;
        }
        return { kind: "continue" };
      },
      onText: () => {
        const copied = body;
        release();
        if (copied !== null) void this.send(generation, copied);
      },
      onSettled: release,
    };
  }

  private async send(generation: AdmittedGeneration, body: Buffer): Promise<void> {
    // The caller gets its answer first: a copy costs as much as a request.
    await nextTurn();
    if (this.isStopped) return;
    if (this.running.size >= MAX_RUNNING) {
      this.drop();
      return;
    }
    const controller = new AbortController();
    this.running.add(controller);
    this.bodyBytes += body.length;
    this.counts.sent += 1;
    try {
      const { clock, findPayer, generate } = this.deps;
      const principal = restrictAs(await findPayer(), generation);
      const { answer } = await generate(describeCall(generation, { body, principal, controller, clock }));
      if (answer.kind === "stream" && answer.stream instanceof ReadableStream)
        for await (const _ of answer.stream);
    } catch (error) {
      this.deps.log.warn("a shadow request was not answered", {
        generation_id: generation.id,
        detail: detailOf(error),
      });
    } finally {
      this.bodyBytes -= body.length;
      this.running.delete(controller);
    }
  }

  private drop(): null {
    const { clock, log } = this.deps;
    this.counts.dropped += 1;
    if (clock.now() - this.warnedAt < WARN_MS) return null;
    this.warnedAt = clock.now();
    log.warn("shadow requests are dropped, because too many run", { dropped: this.counts.dropped });
    return null;
  }
}

/** Returns the paying account with the caller's restrictions: a copy goes to no model or provider that the caller may not use. */
function restrictAs(payer: AccountPrincipal, { call }: AdmittedGeneration): AccountPrincipal {
  const { principal } = call;
  if (principal.kind === "anonymous") return payer;
  const { account, key } = principal;
  return {
    ...payer,
    account: { ...payer.account, policy: account.policy },
    key: { ...payer.key, models: key.models },
  };
}

interface ShadowCall {
  readonly body: Buffer;
  readonly principal: AccountPrincipal;
  readonly controller: AbortController;
  readonly clock: Clock;
}

function describeCall(
  { id, call }: AdmittedGeneration,
  { body, principal, controller, clock }: ShadowCall,
): GenerationCall {
  const parse = (bytes: Buffer) => CLIENT_APIS[call.request.api].parse(bytes, (name) => name);
  const copy: GenerationCall = {
    requestId: call.requestId,
    principal,
    request: parse(body),
    withBody: (other) => ({ ...copy, request: parse(other) }),
    shadowOf: id,
    headers: NO_HEADERS,
    readClientSignal: () => controller.signal,
    readBody: () => body,
    takeMemory: () => true,
    memory: UNCOUNTED,
    onLasting() {},
    onEnded() {},
    route: call.route,
    receivedAt: clock.now(),
    stopwatch: new Stopwatch(clock),
    trace: null,
    logFields: { shadow_of: id },
  };
  return copy;
}
