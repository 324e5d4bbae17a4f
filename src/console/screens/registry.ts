import type { ComponentType } from "preact";
import type { IconName } from "../parts/values/icon.tsx";
import type { ScreenProps } from "../state/screen.ts";
import type { Right, Session } from "../state/session.ts";
import { text } from "../text/text.ts";

/** A screen of the console. */
export interface Screen {
  /** The path, with `:name` for parameters. */
  readonly path: string;
  readonly title: string;
  /** The group of the navigation; null for a screen that other screens link to. */
  readonly group: keyof typeof text.groups | null;
  readonly icon: IconName;
  /** Returns whether the screen is shown to the signed-in person. The API decides what it contains. */
  sees(session: Session): boolean;
  /** Loads the code of the screen, which shares a file with others that are used together: many small files would compress worse. */
  load(): Promise<ComponentType<ScreenProps>>;
}

/** All who are signed in. */
const everyone = (): boolean => true;
/** The operator only. */
const operatorOnly = ({ role }: Session): boolean => role === "operator";
/** Those with a right in the account. */
const needs =
  (right: Right) =>
  ({ rights }: Session): boolean =>
    rights.includes(right);
/** Those who see all of an account. */
const readers = needs("read");
/** Those who also see its changes, its provider keys and its routes. */
const inspectors = needs("inspect");
/** Those who see only what is theirs. */
const others = (session: Session): boolean => !readers(session);

/** The screens in the order of the navigation. A screen that is not listed does not exist. */
export const SCREENS: readonly Screen[] = [
  {
    path: "/console/home",
    title: text.home.title,
    group: "start",
    icon: "home",
    sees: others,
    load: async () => (await import("./manage.ts")).Home,
  },
  {
    path: "/console/requests",
    title: text.requests.title,
    group: "traffic",
    icon: "list",
    sees: everyone,
    load: async () => (await import("./traffic.ts")).Requests,
  },
  {
    path: "/console/requests/:id",
    title: text.request.title,
    group: null,
    icon: "list",
    sees: everyone,
    load: async () => (await import("./traffic.ts")).Request,
  },
  {
    path: "/console/responses",
    title: text.responses.title,
    group: null,
    icon: "chat",
    sees: everyone,
    load: async () => (await import("./traffic.ts")).Responses,
  },
  {
    path: "/console/responses/:id",
    title: text.responses.one,
    group: null,
    icon: "chat",
    sees: everyone,
    load: async () => (await import("./traffic.ts")).Response,
  },
  {
    path: "/console/keys",
    title: text.keys.title,
    group: "manage",
    icon: "key",
    sees: everyone,
    load: async () => (await import("./manage.ts")).Keys,
  },
  {
    path: "/console/keys/:id",
    title: text.keys.title,
    group: null,
    icon: "key",
    sees: everyone,
    load: async () => (await import("./manage.ts")).Keys,
  },
  {
    path: "/console/welcome",
    title: text.welcome.title,
    group: "start",
    icon: "flag",
    sees: readers,
    load: async () => (await import("./manage.ts")).Welcome,
  },
  {
    path: "/console/playground",
    title: text.playground.title,
    group: "traffic",
    icon: "chat",
    sees: needs("call"),
    load: async () => (await import("./playground/playground.tsx")).default,
  },
  {
    path: "/console/models",
    title: text.models.title,
    group: "traffic",
    icon: "box",
    sees: everyone,
    load: async () => (await import("./traffic.ts")).Models,
  },
  {
    path: "/console/providers",
    title: text.providers.title,
    group: "traffic",
    icon: "server",
    sees: operatorOnly,
    load: async () => (await import("./manage.ts")).Providers,
  },
  {
    path: "/console/providers/:slug",
    title: text.providers.title,
    group: null,
    icon: "server",
    sees: operatorOnly,
    load: async () => (await import("./manage.ts")).Provider,
  },
  {
    path: "/console/models/compare",
    title: text.models.compareTitle,
    group: null,
    icon: "box",
    sees: everyone,
    load: async () => (await import("./traffic.ts")).Compare,
  },
  {
    path: "/console/models/:author/:model",
    title: text.models.title,
    group: null,
    icon: "box",
    sees: everyone,
    load: async () => (await import("./traffic.ts")).Model,
  },
  {
    path: "/console/usage",
    title: text.usage.title,
    group: "manage",
    icon: "chart",
    sees: everyone,
    load: async () => (await import("./manage.ts")).Usage,
  },
  {
    path: "/console/budgets",
    title: text.budgets.title,
    group: "manage",
    icon: "gauge",
    sees: readers,
    load: async () => (await import("./manage.ts")).Budgets,
  },
  {
    path: "/console/credits",
    title: text.credits.title,
    group: "manage",
    icon: "wallet",
    sees: readers,
    load: async () => (await import("./manage.ts")).Credits,
  },
  {
    path: "/console/credits/:account",
    title: text.credits.title,
    group: null,
    icon: "wallet",
    sees: readers,
    load: async () => (await import("./manage.ts")).Credits,
  },
  {
    path: "/console/people",
    title: text.people.title,
    group: "manage",
    icon: "people",
    sees: readers,
    load: async () => (await import("./manage.ts")).People,
  },
  {
    path: "/console/people/:account",
    title: text.people.title,
    group: null,
    icon: "people",
    sees: readers,
    load: async () => (await import("./manage.ts")).People,
  },
  {
    path: "/console/people/:account/members/:user",
    title: text.people.title,
    group: null,
    icon: "people",
    sees: readers,
    load: async () => (await import("./manage.ts")).People,
  },
  {
    path: "/console/people/:account/teams/:team",
    title: text.teams.title,
    group: null,
    icon: "people",
    // Its members see it, and its leads manage it.
    sees: (session) => readers(session) || session.teams.length > 0,
    load: async () => (await import("./manage.ts")).Team,
  },
  {
    path: "/console/provider-keys",
    title: text.providerKeys.title,
    group: "manage",
    icon: "plug",
    sees: inspectors,
    load: async () => (await import("./manage.ts")).ProviderKeys,
  },
  {
    path: "/console/health",
    title: text.health.title,
    group: "operate",
    icon: "pulse",
    sees: operatorOnly,
    load: async () => (await import("./operate.ts")).Health,
  },
  {
    path: "/console/routing",
    title: text.routing.title,
    group: "operate",
    icon: "route",
    sees: inspectors,
    load: async () => (await import("./operate.ts")).Routing,
  },
  {
    path: "/console/guardrails",
    title: text.guardrails.title,
    group: "operate",
    icon: "shield",
    sees: operatorOnly,
    load: async () => (await import("./operate.ts")).Guardrails,
  },
  {
    path: "/console/settings",
    title: text.settings.title,
    group: "operate",
    icon: "gear",
    sees: operatorOnly,
    load: async () => (await import("./operate.ts")).Settings,
  },
  {
    path: "/console/audit",
    title: text.audit.title,
    group: "operate",
    icon: "list",
    sees: inspectors,
    load: async () => (await import("./operate.ts")).Audit,
  },
];

/** The screen of the first steps, which `/console` shows until they are done. */
export const FIRST_STEPS = "/console/welcome";

/** Returns the screen that `/console` shows: the requests, or what is theirs to those who do not see the account. */
export function homeOf(session: Session): string {
  return others(session) ? "/console/home" : "/console/requests";
}
