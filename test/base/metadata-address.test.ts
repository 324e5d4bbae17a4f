import { describe, expect, test } from "bun:test";
import { isMetadataAddress } from "../../src/base/network/metadata-address.ts";

describe("an address of a cloud's metadata service", () => {
  test.each([
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "metadata.google.internal",
    "metadata.google.internal.",
    "[fd00:ec2::254]",
    "fe80::1",
    "::ffff:169.254.169.254",
    // However a URL writes it, its host is in one form.
    new URL("http://0xA9FEA9FE/").hostname,
    new URL("http://2852039166/").hostname,
    new URL("http://[::ffff:169.254.169.254]/").hostname,
  ])("%s is recognized", (host) => {
    expect(isMetadataAddress(host)).toBe(true);
  });

  test.each(["127.0.0.1", "10.0.0.1", "192.168.1.1", "::1", "api.openai.com", "metadata.example.com"])(
    "%s is none",
    (host) => {
      expect(isMetadataAddress(host)).toBe(false);
    },
  );
});
