import { describe, expect, test } from "bun:test";
import { StoreError } from "../../../src/base/failures/store-error.ts";
import type {
  BorrowOrder,
  MoneyLeaseRequest,
  MoneyLeases,
} from "../../../src/core/ledger/leases/money-leases.ts";
import { usageOf } from "../../storage/contracts/samples.ts";

/** The leases of several gateways over one ledger. */
export interface LeaseParts {
  /** Begins a start of a gateway, which ends its earlier ones. */
  register(gatewayId: string): Promise<MoneyLeases>;
  /** Adds credits to an account. */
  credit(accountId: string, amount: number): Promise<void>;
  /** Saves a record as a gateway. */
  save(gatewayId: string, record: ReturnType<typeof usageOf>): Promise<void>;
}

const ACCOUNT = "user_a";

function ask(amount: number, fields: Partial<MoneyLeaseRequest> = {}): MoneyLeaseRequest {
  return { name: "balance", bound: 0, least: amount, amount, most: amount, ahead: 0, ...fields };
}

function orderOf(ticket: number, ...leases: MoneyLeaseRequest[]): BorrowOrder {
  return { ticket, accountId: ACCOUNT, leases };
}

/** The contract of `MoneyLeases`. */
export function testMoneyLeases(createParts: () => LeaseParts | Promise<LeaseParts>): void {
  const createFunded = async (amount: number) => {
    const parts = await createParts();
    await parts.credit(ACCOUNT, amount);
    const [a, b] = [await parts.register("gateway_a"), await parts.register("gateway_b")];
    return { ...parts, a, b };
  };

  describe("leases of money", () => {
    test("lend no more than the balance and the overdraft to all gateways together", async () => {
      const { a, b } = await createFunded(100);
      expect(await a.borrow(orderOf(1, ask(70)))).toEqual({
        isLent: true,
        leases: [{ lent: 70, left: 30, others: 0 }],
      });
      expect(await b.borrow(orderOf(1, ask(40)))).toEqual({
        isLent: false,
        leases: [{ lent: 0, left: 30, others: 70 }],
      });
      expect(await b.borrow(orderOf(2, ask(40, { bound: 10 })))).toEqual({
        isLent: true,
        leases: [{ lent: 40, left: 0, others: 70 }],
      });
    });

    test("lend ahead at most a sixteenth of what is left besides, and half of a balance that does not suffice", async () => {
      const { a, b } = await createFunded(1_000);
      const first = await a.borrow(orderOf(1, ask(200, { ahead: 500 })));
      expect(first.leases[0]?.lent).toBe(250);
      const second = await b.borrow(orderOf(1, ask(900, { least: 10, most: 900 })));
      expect(second.leases[0]?.lent).toBe(375);
    });

    test("lend from the balance and from all spending limits, or from none", async () => {
      const { a, b } = await createFunded(100);
      const key = ask(60, { name: "key:key_a@0", bound: 50 });
      const refused = await a.borrow(orderOf(1, ask(60), key));
      expect(refused.isLent).toBe(false);
      expect(refused.leases.map(({ left }) => left)).toEqual([100, 50]);
      const lent = await a.borrow(orderOf(2, ask(30), { ...key, least: 30, amount: 30, most: 30 }));
      expect(lent.leases).toEqual([
        { lent: 30, left: 70, others: 0 },
        { lent: 30, left: 20, others: 0 },
      ]);
      expect((await b.borrow(orderOf(1, ask(21), { ...key, least: 21, amount: 21, most: 21 }))).isLent).toBe(
        false,
      );
    });

    test("carry out an order once, however often it is sent, and reject one that is older than the last", async () => {
      const { a } = await createFunded(100);
      const order = orderOf(1, ask(30));
      const answer = await a.borrow(order);
      expect(await a.borrow(order)).toEqual(answer);
      expect(await a.borrow(orderOf(2, ask(20)))).toMatchObject({ leases: [{ lent: 20, left: 50 }] });
      expect(await a.borrow(order).catch((error) => error)).toBeInstanceOf(StoreError);
      // Less than the lease, so that a return that is carried out twice has something to take.
      const returned = { ticket: 3, accountId: ACCOUNT, leases: [{ name: "balance", amount: 20 }] };
      await a.giveBack(returned);
      await a.giveBack(returned);
      const held = [{ accountId: ACCOUNT, name: "balance", amount: 30 }];
      expect(await a.listLeases()).toEqual({ leases: held, ticket: 3 });
      expect(await a.borrow(orderOf(4, ask(70)))).toMatchObject({ leases: [{ lent: 70, left: 0 }] });
      // A return that arrives after a later order gives back what is being spent.
      await a.giveBack(returned);
      expect((await a.listLeases()).leases).toEqual([{ ...held[0]!, amount: 100 }]);
    });

    test("are lowered by the cost of a record that is saved, together with the balance and the spending", async () => {
      const { a, b, save } = await createFunded(100);
      const key = (amount: number) => ask(amount, { name: "key:key_a@0", bound: 80 });
      await a.borrow(orderOf(1, ask(60), key(60)));
      const record = usageOf("gen_1", {
        accountId: ACCOUNT,
        keyId: "key_a",
        costNanodollars: 25,
        leasedFrom: ["balance", "key:key_a@0"],
      });
      await save("gateway_a", record);
      await save("gateway_a", record);
      expect(await a.listLeases()).toEqual({
        leases: [
          { accountId: ACCOUNT, name: "balance", amount: 35 },
          { accountId: ACCOUNT, name: "key:key_a@0", amount: 35 },
        ],
        ticket: 1,
      });
      expect(await b.borrow(orderOf(1, ask(0), key(0)))).toMatchObject({
        leases: [
          { left: 40, others: 35 },
          { left: 20, others: 35 },
        ],
      });
    });

    test("cover no more of a cost than they are: the rest lowers the balance and the leases of no other gateway", async () => {
      const { a, b, save } = await createFunded(100);
      const key = (amount: number) => ask(amount, { name: "key:key_a@0", bound: 80 });
      await a.borrow(orderOf(1, ask(20), key(20)));
      await b.borrow(orderOf(1, ask(30), key(30)));
      const leasedFrom = ["balance", "key:key_a@0"];
      const fields = { accountId: ACCOUNT, keyId: "key_a", costNanodollars: 25, leasedFrom };
      await save("gateway_a", usageOf("gen_1", fields));
      expect((await a.listLeases()).leases).toEqual([]);
      expect((await b.listLeases()).leases.map(({ amount }) => amount)).toEqual([30, 30]);
      expect(await a.borrow(orderOf(2, ask(0), key(0)))).toMatchObject({
        leases: [
          { left: 45, others: 30 },
          { left: 25, others: 30 },
        ],
      });
    });

    test("name an account as wanted to the gateways that have leases of it, if they could give back enough", async () => {
      const { a, b, register } = await createFunded(100);
      await a.borrow(orderOf(1, ask(70)));
      await b.borrow(orderOf(1, ask(200)));
      expect(await a.listWanted()).toEqual([]);
      await b.borrow(orderOf(2, ask(90)));
      expect(await a.listWanted()).toEqual([ACCOUNT]);
      expect(await b.listWanted()).toEqual([]);
      expect(await (await register("gateway_c")).listWanted()).toEqual([]);
    });

    test("stay with a gateway that starts again, and its earlier start can change nothing any more", async () => {
      const { a, b, register } = await createFunded(100);
      await a.borrow(orderOf(7, ask(70)));
      const again = await register("gateway_a");
      expect(await again.listLeases()).toEqual({
        leases: [{ accountId: ACCOUNT, name: "balance", amount: 70 }],
        ticket: 7,
      });
      const late = await a.borrow(orderOf(8, ask(10))).catch((error: Error) => error.name);
      expect(late).toBe("GatewayReplacedError");
      expect((await b.borrow(orderOf(1, ask(30)))).isLent).toBe(true);
    });

    test("never lend too much to gateways that borrow and give back at the same time", async () => {
      const { a, b } = await createFunded(1_000);
      const key = ask(100, { name: "key:key_a@0", bound: 700 });
      const run = async (leases: MoneyLeases, first: number) => {
        let lent = 0;
        for (let ticket = first; ticket < first + 20; ticket += 2) {
          const answer = await leases.borrow(orderOf(ticket, ask(100), key));
          lent += answer.leases[1]?.lent ?? 0;
          if (!answer.isLent) continue;
          const names = ["balance", "key:key_a@0"];
          await leases.giveBack({
            ticket: ticket + 1,
            accountId: ACCOUNT,
            leases: names.map((name) => ({ name, amount: 30 })),
          });
          lent -= 30;
        }
        return lent;
      };
      const [fromA, fromB] = await Promise.all([run(a, 1), run(b, 1)]);
      expect(fromA + fromB).toBeLessThanOrEqual(700);
      const { leases } = await a.listLeases();
      expect(leases.map(({ amount }) => amount)).toEqual([fromA, fromA]);
    });
  });
}
