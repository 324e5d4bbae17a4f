import type { ComponentType } from "preact";
import type { IconName } from "../parts/icon.tsx";
import type { ScreenProps } from "../state/screen.ts";
import type { Session } from "../state/session.ts";
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
  /** Loads the code of the screen, which is a file of its own. */
  load(): Promise<{ readonly default: ComponentType<ScreenProps> }>;
}

/** All who are signed in. */
const everyRole = (): boolean => true;
/** The operator only. */
export const operatorOnly = ({ role }: Session): boolean => role === "operator";
/** Those who manage an account: its owners and admins, and the operator. */
export const managers = ({ role }: Session): boolean => role !== "member" && role !== "billing";
/** Those who see all of an account: everyone but members. */
export const readers = ({ role }: Session): boolean => role !== "member";

/** The screens in the order of the navigation. A screen that is not listed does not exist. */
export const SCREENS: readonly Screen[] = [
  {
    path: "/console/requests",
    title: text.requests.title,
    group: "traffic",
    icon: "list",
    sees: everyRole,
    load: () => import("./requests/requests.tsx"),
  },
  {
    path: "/console/requests/:id",
    title: text.request.title,
    group: null,
    icon: "list",
    sees: everyRole,
    load: () => import("./request/request.tsx"),
  },
  {
    path: "/console/keys",
    title: text.keys.title,
    group: "manage",
    icon: "key",
    sees: everyRole,
    load: () => import("./keys/keys.tsx"),
  },
  {
    path: "/console/welcome",
    title: text.welcome.title,
    group: "start",
    icon: "flag",
    sees: everyRole,
    load: () => import("./welcome/welcome.tsx"),
  },
  {
    path: "/console/playground",
    title: text.playground.title,
    group: "traffic",
    icon: "chat",
    sees: everyRole,
    load: () => import("./playground/playground.tsx"),
  },
  {
    path: "/console/models",
    title: text.models.title,
    group: "traffic",
    icon: "box",
    sees: everyRole,
    load: () => import("./models/models.tsx"),
  },
  {
    path: "/console/models/compare",
    title: text.models.compareTitle,
    group: null,
    icon: "box",
    sees: everyRole,
    load: () => import("./models/compare.tsx"),
  },
  {
    path: "/console/models/:author/:model",
    title: text.models.title,
    group: null,
    icon: "box",
    sees: everyRole,
    load: () => import("./models/model.tsx"),
  },
  {
    path: "/console/usage",
    title: text.usage.title,
    group: "manage",
    icon: "chart",
    sees: everyRole,
    load: () => import("./usage/usage.tsx"),
  },
  {
    path: "/console/credits",
    title: text.credits.title,
    group: "manage",
    icon: "wallet",
    sees: readers,
    load: () => import("./credits/credits.tsx"),
  },
  {
    path: "/console/credits/:account",
    title: text.credits.title,
    group: null,
    icon: "wallet",
    sees: readers,
    load: () => import("./credits/credits.tsx"),
  },
  {
    path: "/console/people",
    title: text.people.title,
    group: "manage",
    icon: "people",
    sees: readers,
    load: () => import("./people/people.tsx"),
  },
  {
    path: "/console/people/:account",
    title: text.people.title,
    group: null,
    icon: "people",
    sees: readers,
    load: () => import("./people/people.tsx"),
  },
  {
    path: "/console/provider-keys",
    title: text.providerKeys.title,
    group: "manage",
    icon: "plug",
    sees: managers,
    load: () => import("./provider-keys/provider-keys.tsx"),
  },
  {
    path: "/console/health",
    title: text.health.title,
    group: "operate",
    icon: "pulse",
    sees: operatorOnly,
    load: () => import("./health/health.tsx"),
  },
  {
    path: "/console/routing",
    title: text.routing.title,
    group: "operate",
    icon: "route",
    sees: managers,
    load: () => import("./routing/routing.tsx"),
  },
  {
    path: "/console/settings",
    title: text.settings.title,
    group: "operate",
    icon: "gear",
    sees: operatorOnly,
    load: () => import("./settings/settings.tsx"),
  },
  {
    path: "/console/audit",
    title: text.audit.title,
    group: "operate",
    icon: "list",
    sees: managers,
    load: () => import("./audit/audit.tsx"),
  },
];

/** The screen that `/console` shows. */
export const HOME = "/console/welcome";
