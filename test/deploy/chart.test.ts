import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseAllDocuments } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { CHART, headOf, listRenderings, renderCommand } from "../../scripts/generate/render-chart.ts";
import { findTool } from "./find-tool.ts";
import {
  createFolder,
  type Folder,
  NOTHING_FOUND,
  ROOT,
  requireRun,
  runChecker,
  runProgram,
  toolEnvironment,
} from "./run-program.ts";

const HELM = findTool("helm", "the rendered files are compared where it is");
const VALIDATE = findTool("kubernetes-validate", "PyPI: kubernetes-validate");

/** What the tests read of an object of Kubernetes. */
interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly replicas: number;
    readonly selector: Readonly<Record<string, unknown>>;
    readonly template: { readonly metadata: KubernetesObject["metadata"]; readonly spec: PodSpec };
    readonly volumeClaimTemplates: readonly unknown[];
  };
  readonly data: Readonly<Record<string, string>>;
}

interface PodSpec {
  readonly enableServiceLinks: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: object;
  readonly containers: readonly [
    {
      readonly env: readonly { readonly name: string; readonly value?: string }[];
      readonly securityContext: object;
      readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
    },
  ];
}

const renderings = listRenderings();

function readObjects(name: string): readonly KubernetesObject[] {
  const found = renderings.find(({ rendered }) => basename(rendered) === `${name}.yaml`);
  const text = readFileSync(found?.rendered ?? "", "utf8");
  return parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);
}

function findObject(name: string, kind: string): KubernetesObject {
  const object = readObjects(name).find((one) => one.kind === kind);
  if (object === undefined) throw new Error(`${name} has no ${kind}`);
  return object;
}

// biome-ignore lint/suspicious/noExplicitAny: a spec of one of many kinds.
const specOf = (name: string, kind: string): any => findObject(name, kind).spec;
const kindsOf = (name: string) => readObjects(name).map(({ kind }) => kind);
const podOf = (name: string) => findObject(name, "StatefulSet").spec.template.spec;

let folder: Folder;
beforeAll(() => {
  folder = createFolder();
});
afterAll(() => folder.remove());

describe("the rendered chart", () => {
  test.each(renderings)(
    "$rendered is rendered from the present chart (npm run generate)",
    ({ values, rendered }) => {
      expect(readFileSync(rendered, "utf8").split("\n")[0]).toBe(headOf(values));
    },
  );

  test("without values it is one gateway with a volume and no secret", () => {
    const { spec } = findObject("default", "StatefulSet");
    expect([spec.replicas, spec.volumeClaimTemplates.length]).toEqual([1, 1]);
    expect(kindsOf("default").sort()).toEqual([
      "ConfigMap",
      "Service",
      "Service",
      "ServiceAccount",
      "StatefulSet",
    ]);
  });

  test("several gateways have a disruption budget, and are spread over nodes", () => {
    expect(kindsOf("cluster")).toContain("PodDisruptionBudget");
    expect(podOf("cluster")).toMatchObject({
      topologySpreadConstraints: [{ topologyKey: "kubernetes.io/hostname" }],
    });
  });

  test("the pod has the sleep, both times of a drain and ten seconds before SIGKILL", () => {
    for (const [name, seconds] of [
      ["default", 5 + 5 + 30 + 10],
      ["full", 5 + 125 + 10],
    ] as const) {
      const { terminationGracePeriodSeconds, containers } = podOf(name);
      expect([name, terminationGracePeriodSeconds]).toEqual([name, seconds]);
      expect(containers[0].lifecycle.preStop.sleep.seconds).toBe(5);
    }
  });

  test("the container has no rights and a root file system that it cannot write", () => {
    const { securityContext, containers, enableServiceLinks } = podOf("default");
    expect(securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65532,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    // A service with the name "gateway" would set GATEWAY_PORT to an address.
    expect(enableServiceLinks).toBe(false);
  });

  test("the token that Prometheus sends is the one that the gateway takes", () => {
    const [endpoint] = specOf("full", "ServiceMonitor").endpoints;
    const [{ env }] = specOf("full", "StatefulSet").template.spec.containers;
    const variable = env.find(({ name }: { name: string }) => name === "GATEWAY_METRICS_TOKEN");
    expect(endpoint.authorization.credentials).toEqual({ name: "gateway-metrics", key: "token" });
    expect(variable.valueFrom.secretKeyRef).toEqual(endpoint.authorization.credentials);
    expect(podOf("default").containers[0].env).not.toContainEqual(
      expect.objectContaining({ name: "GATEWAY_METRICS_TOKEN" }),
    );
  });

  test("the ServiceMonitor selects the one service whose port leads to each pod", () => {
    const { selector, endpoints } = specOf("full", "ServiceMonitor");
    const isSelected = ({ kind, metadata }: KubernetesObject) =>
      kind === "Service" &&
      Object.entries(selector.matchLabels).every(([label, value]) => metadata.labels[label] === value);
    expect(readObjects("full").filter(isSelected)).toMatchObject([
      { spec: { clusterIP: "None", ports: [{ name: endpoints[0].port }] } },
    ]);
  });

  test("a network policy limits who connects to the pods, and whereto they connect only if rules are given", () => {
    expect(kindsOf("default")).not.toContain("NetworkPolicy");
    const { podSelector, policyTypes, ingress, egress } = specOf("full", "NetworkPolicy");
    const { selector, template } = specOf("full", "StatefulSet");
    expect(podSelector).toEqual(selector);
    expect(policyTypes).toEqual(["Ingress", "Egress"]);
    const [{ name }] = template.spec.containers[0].ports;
    expect(ingress).toMatchObject([{ ports: [{ protocol: "TCP", port: name }] }]);
    expect([ingress[0].from.length, egress.length]).toEqual([2, 2]);
  });

  test("services and budgets select the labels of the pods", () => {
    for (const { kind, spec } of readObjects("cluster").filter(({ kind }) =>
      ["Service", "PodDisruptionBudget"].includes(kind),
    )) {
      const selected = (spec.selector["matchLabels"] ?? spec.selector) as Record<string, string>;
      expect([kind, findObject("cluster", "StatefulSet").spec.template.metadata.labels]).toMatchObject([
        kind,
        selected,
      ]);
    }
  });

  test("gateway config check accepts the configuration and the variables of the container", async () => {
    const file = join(folder.path, "gateway.yaml");
    writeFileSync(file, findObject("full", "ConfigMap").data["gateway.yaml"] ?? "");
    const variables = podOf("full").containers[0].env.flatMap(({ name, value }) =>
      value === undefined ? [] : [[name, value]],
    );
    const environment = { ...Object.fromEntries(variables), DATABASE_URL: "postgres://localhost/gateway" };
    const { exitCode, stdout, stderr } = await runProgram(
      [process.execPath, join(ROOT, "src/main.ts"), "config", "check", file],
      { cwd: folder.path, environment },
    );
    expect([exitCode, stderr], stdout).toEqual([0, ""]);
  });

  test.skipIf(VALIDATE === null)("the schemas of Kubernetes accept all objects", async () => {
    for (const { rendered } of renderings) {
      // The schema of a ServiceMonitor is that of its operator.
      const documents = parseAllDocuments(readFileSync(rendered, "utf8"));
      const own = documents.filter((document) => document.get("kind") !== "ServiceMonitor");
      const file = join(folder.path, basename(rendered));
      writeFileSync(file, own.map(String).join("---\n"));
      const options = { cwd: folder.path, environment: toolEnvironment() };
      expect(await runChecker([VALIDATE as string, "--strict", file], options)).toEqual(NOTHING_FOUND);
    }
  });
});

test("the chart has the version of the package", () => {
  const chart = readFileSync(join(CHART, "Chart.yaml"), "utf8");
  expect(chart).toContain(`\nversion: ${packageJson.version}\n`);
  expect(chart).toContain(`\nappVersion: "${packageJson.version}"\n`);
});

describe.skipIf(HELM === null)("helm", () => {
  const values = join(CHART, "ci", "default-values.yaml");
  const render = (file: string, ...options: readonly string[]) =>
    runProgram([...renderCommand(file, HELM as string), ...options], {
      cwd: folder.path,
      environment: toolEnvironment(),
    });

  test.each(renderings)("renders $values as it is checked in", async ({ values, rendered }) => {
    const { stdout } = await render(values);
    expect(`${headOf(values)}\n${stdout}`).toBe(readFileSync(rendered, "utf8"));
  });

  test.each([
    ["replicaCount=2", "several gateways need PostgreSQL"],
    ["replicaCount=2,database.existingSecret=a", "all gateways of a database need the same master key"],
    ["redis.url=redis://valkey", "redis is set without a database"],
    ["database.url=a,database.existingSecret=b", "database.url and database.existingSecret are both set"],
    ["config.server.port=9000", "config.server.port is set"],
    ["replicas=2", "'replicas' not allowed"],
    ["ingress.enabled=true", "'/ingress/hosts': minItems"],
    ["serviceMonitor.enabled=true", "'/serviceMonitor/tokenSecret'"],
  ])("rejects %s with a sentence: %s", async (set, sentence) => {
    const { exitCode, stderr } = await render(values, "--set", set);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(sentence);
  });

  test("finds nothing to change in the chart", async () => {
    await requireRun([HELM as string, "lint", "--strict", CHART], {
      cwd: folder.path,
      environment: toolEnvironment(),
    });
  });
});
