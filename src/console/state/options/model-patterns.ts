import { computed, signal } from "@preact/signals";
import { call } from "../../api/client.ts";
import { text } from "../../text/text.ts";
import type { Option } from "../filter-options.ts";
import { loadOptions, optionsOf } from "../names.ts";
import { session } from "../session.ts";
import { listPatterns } from "./pattern-options.ts";

const routes = signal<readonly string[]>([]);
let routesOf: string | null = null;

const options = computed(() =>
  listPatterns(
    optionsOf("models").map(({ value }) => value),
    routes.value,
    text.lists.patterns,
  ),
);

/** Returns what a list of models may contain: models and tiers, named routes, and a pattern for each author. */
export function modelPatterns(): readonly Option[] {
  return options.value;
}

/** Loads the names, unless they were loaded. Those who may not list routes get none. */
export function loadModelPatterns(): void {
  loadOptions("models");
  const key = session.value?.key_id ?? "";
  if (routesOf === key) return;
  routesOf = key;
  call("GET /api/admin/named-routes", {}).then(
    ({ data }) => {
      routes.value = data.map(({ name }) => name);
    },
    () => {},
  );
}
