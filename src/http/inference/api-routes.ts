import { fail } from "../../base/failures/errors.ts";
import type { ClientApiDeclaration, SentTarget } from "../../wire/client-apis/client-api.ts";
import type { Handler, RequestContext } from "../context/context.ts";
import { countHandler } from "./count-handler.ts";
import { inferenceHandler } from "./inference-handler.ts";

/** Handlers by path and method. */
export type Routes = Readonly<Record<string, Readonly<Record<string, Handler>>>>;

/** Handles a request to an operation. `target`: what was sent besides the body. If absent, the parameters of the route are used. */
type OperationHandler = (
  request: Request,
  context: RequestContext,
  target?: SentTarget,
) => Response | Promise<Response>;

/** Returns the routes of client APIs under every gateway prefix, and those at fixed paths. */
export function listApiRoutes(apis: readonly ClientApiDeclaration[]): {
  readonly underPrefixes: Routes;
  readonly fixed: Routes;
} {
  const [underPrefixes, fixed] = [new RouteList(), new RouteList()];
  for (const api of apis) {
    const { counting } = api;
    const handled = api.operations.map((operation) => [operation, inferenceHandler(api, operation)] as const);
    if (counting !== undefined) handled.push([counting, countHandler(api, counting)]);
    for (const [{ method, path, fixedPath }, handle] of handled) {
      underPrefixes.add(method, path, handle);
      if (fixedPath !== undefined) fixed.add(method, fixedPath, handle);
    }
  }
  return { underPrefixes: underPrefixes.routes, fixed: fixed.routes };
}

/** Returns the routes of all lists. A path may be in several, with different methods. */
export function joinRoutes(...lists: readonly Routes[]): Routes {
  const joined: Record<string, Routes[string]> = {};
  for (const routes of lists)
    for (const [path, methods] of Object.entries(routes)) joined[path] = { ...joined[path], ...methods };
  return joined;
}

/** A path with a model as its last segment, or as the beginning of it. */
const MODEL_PATH = /^(.*)\/\{model\}(.*)$/;

/** The route patterns for a model in a path. Its id is one segment, with or without an encoded slash, or two segments. */
const MODEL_SEGMENTS: readonly string[] = ["/:id", "/:author/:model"];

class RouteList {
  readonly routes: Record<string, Record<string, Handler>> = {};
  /** The operations of paths with a model, by method and the text before the model. The keys of the inner map are the texts after it. */
  private readonly actions = new Map<string, Map<string, OperationHandler>>();

  add(method: string, path: string, handle: OperationHandler): void {
    const [, base, action] = MODEL_PATH.exec(path) ?? [];
    if (base === undefined || action === undefined) {
      this.put(method, path, handle);
      return;
    }
    const key = `${method} ${base}`;
    const actions = this.actions.get(key) ?? new Map<string, OperationHandler>();
    this.actions.set(key, actions.set(action, handle));
    for (const segments of MODEL_SEGMENTS) this.put(method, base + segments, dispatchTo(actions));
  }

  private put(method: string, path: string, handle: Handler): void {
    this.routes[path] = { ...this.routes[path], [method]: handle };
  }
}

/** Returns a handler of a path that ends with a model and an action: it calls the handler of the longest action that the path ends with. */
function dispatchTo(actions: ReadonlyMap<string, OperationHandler>): Handler {
  return (request, context) => {
    const end = Object.values(context.params).join("/");
    const [found] = [...actions]
      .filter(([action]) => end.length > action.length && end.endsWith(action))
      .sort(([a], [b]) => b.length - a.length);
    if (found === undefined)
      return fail("not_found", `The path must end with ${[...actions.keys()].join(" or ")}.`);
    const [action, handle] = found;
    return handle(request, context, new ModelTarget(context, end.slice(0, end.length - action.length)));
  };
}

/** The path, query and headers of a request to a path with a model. */
class ModelTarget implements SentTarget {
  readonly params: SentTarget["params"];

  constructor(
    private readonly context: RequestContext,
    model: string,
  ) {
    this.params = { model };
  }

  get query(): SentTarget["query"] {
    return this.context.query;
  }

  get headers(): SentTarget["headers"] {
    return this.context.headers;
  }
}
