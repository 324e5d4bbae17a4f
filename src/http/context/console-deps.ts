import type { ConsoleSessions } from "../../core/console/console-sessions.ts";
import type { FailedSignIns } from "../../core/console/failed-sign-ins.ts";
import type { IdentitySignIn } from "../../core/console/identity-sign-in.ts";
import type { OidcProvider } from "../../core/console/oidc-provider.ts";
import type { OidcConfig } from "../../core/console/oidc-schema.ts";
import type { OidcTrials } from "../../core/console/oidc-trials.ts";
import type { WindowCounter } from "../../core/console/window-counter.ts";
import type { ConsoleSource } from "./console-source.ts";

/** The means to create keys for the playground. */
export interface PlaygroundKeys {
  /** Nanodollars that may be spent with a key. */
  readonly limit: number;
  /** Milliseconds until a key expires. */
  readonly lifetimeMs: number;
  /** Counts keys by the credentials that created them. */
  readonly created: WindowCounter;
}

/** Sign-in through an OpenID Connect provider. */
export interface OidcDeps extends IdentitySignIn {
  /** The provider, as the sign-in page names it. */
  readonly name: string;
  readonly provider: OidcProvider;
  /** The settings in force. */
  readonly config: OidcConfig;
  /** How long a sign-in at the provider suffices for money and management keys. Milliseconds; null if forever. */
  readonly reauthenticateMs: number | null;
}

/** The dependencies of the console's pages and endpoints. */
export interface ConsoleDeps {
  /** The built files. */
  readonly files: ConsoleSource;
  readonly sessions: ConsoleSessions;
  readonly failedSignIns: FailedSignIns;
  readonly playground: PlaygroundKeys;
  /** Null if none is configured. */
  readonly oidc: OidcDeps | null;
  /** Trial sign-ins with settings that are not in force. */
  readonly trials: OidcTrials;
  /** The address of the gateway for browsers, as configured; null if it follows from the request. */
  readonly publicUrl: URL | null;
  /** The host names under which browsers may use the console, in addition to loopback names and addresses. In lower case, without ports. */
  readonly hosts: ReadonlySet<string>;
}
