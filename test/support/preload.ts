/** Loaded before the tests of every process (bunfig.toml). Its hooks run around those of the test files. */
import { afterAll, beforeEach, expect } from "bun:test";
import { removeTempFolders } from "./temp-folder.ts";

// A test without an expectation cannot fail.
beforeEach(() => {
  try {
    expect.hasAssertions();
  } catch {
    // The runtime does not count the expectations of concurrent tests.
  }
});
afterAll(removeTempFolders);
