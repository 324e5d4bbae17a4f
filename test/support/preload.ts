/** Loaded before the tests of every process (bunfig.toml). Its hook runs after the hooks of the test files. */
import { afterAll } from "bun:test";
import { removeTempFolders } from "./temp-folder.ts";

afterAll(removeTempFolders);
