import { beforeAll, describe, expect, test } from "bun:test";
import { makeTempFolder } from "../support/temp-folder.ts";
import { prepareProgram } from "./program.ts";
import { EARLIER_VERSIONS, type EarlierVersion } from "./versions.ts";

const [version] = EARLIER_VERSIONS as readonly [EarlierVersion];

/** A repository without commits, as a shallow clone has none of an earlier version. */
let shallow: string;
let noRepository: string;
beforeAll(() => {
  shallow = makeTempFolder("gateway-shallow-");
  noRepository = makeTempFolder("gateway-no-repository-");
  Bun.spawnSync(["git", "init", "-q", shallow]);
});

describe("the code of an earlier version", () => {
  test("is not there without a repository, which is no fault", () => {
    const missing = prepareProgram(version, { repository: noRepository, isCi: true });
    expect(missing).toEqual({
      name: version.name,
      reason: expect.stringContaining("clone it"),
      isFault: false,
    });
  });

  test.each([true, false])("is not there in a shallow clone, which is a fault in CI: %p", (isCi) => {
    const missing = prepareProgram(version, { repository: shallow, isCi });
    expect(missing).toEqual({
      name: version.name,
      reason: expect.stringContaining("git fetch --unshallow --tags"),
      isFault: isCi,
    });
  });
});
