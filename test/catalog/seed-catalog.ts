import { importModelsDev } from "../../src/core/catalog/refresh/import-models-dev.ts";
import { openTestStores } from "../support/databases/test-stores.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { shippedRules, sourceText } from "./source-fixture.ts";

/** Models of a source by provider. */
export type SourceModels = Record<string, Record<string, unknown>[]>;

/** Creates a data directory with a catalog that was imported from a source with these models. Returns its path. */
export async function seedCatalog(models: SourceModels): Promise<string> {
  const imported = importModelsDev(sourceText(models), shippedRules);
  if ("rejected" in imported) throw new Error(imported.rejected);
  const dataDir = makeTempFolder("gateway-refresh-");
  const stores = await openTestStores(dataDir);
  await stores.catalog.writeCatalog({ source: "a test", models: imported.models });
  await stores.close();
  return dataDir;
}

/** A local server with a list of models that a test can change. */
export interface TestSource {
  readonly url: string;
  /** The number of requests. */
  readonly asked: number;
  /** Sets the models, or the response, of further requests. */
  serve(what: SourceModels | (() => Response | Promise<Response>)): void;
  stop(): void;
}

/** Starts the server of a source. */
export function startSource(first: SourceModels): TestSource {
  let answer: () => Response | Promise<Response>;
  let asked = 0;
  const serve: TestSource["serve"] = (what) => {
    answer = typeof what === "function" ? what : () => new Response(sourceText(what));
  };
  serve(first);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      asked++;
      return answer();
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/api.json`,
    get asked() {
      return asked;
    },
    serve,
    stop: () => server.stop(true),
  };
}
