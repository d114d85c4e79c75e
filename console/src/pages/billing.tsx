/** Balances, top-ups, statements and the ledger. */
import { Button, Card, Group, NumberInput, Stack, Tabs, Text } from '@mantine/core';
import { useState } from 'react';
import type {
  CreditTopUp,
  CreditTransfer,
  GetCreditsResponse,
  ListCreditTransfersKind,
  ListStatementsResponseData,
  PriceList,
} from '../../../src/client/management.ts';
import { type Page, request, useChange, useGet, useMay, usePages } from '../api.ts';
import { formatCredits, formatNumber, formatTime } from '../format.ts';
import { DataTable } from '../parts/data-table.tsx';
import { More } from '../parts/more.tsx';
import { Empty, Failure, Loading, PageHead, Shown } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';

/** Why credits move, in words. Closed: a new kind does not compile without its words. */
const KINDS: Record<ListCreditTransfersKind, string> = {
  top_up: 'Topped up',
  promotion: 'Promotional credits',
  adjustment: 'Adjusted by the operator',
  expiry: 'Promotional credits that expired',
  hold: 'Held',
  capture: 'Charged',
  release: 'Released',
};

/** What stands between the thousands of a number: the visitor's own. */
const THOUSANDS = formatNumber(10_000).replaceAll(/\d/g, '');

export default function BillingPage() {
  const may = useMay();
  const credits = useGet<GetCreditsResponse>('/credits', { refetchMs: 10_000 });
  return (
    <>
      <PageHead title="Billing" />
      <Stack gap="xl">
        <Shown of={credits}>
          {({ data }) => (
            <div className="cards">
              {data.map((balance) => (
                <Balance key={String(balance.livemode)} balance={balance} mayTopUp={may('credits:write')} />
              ))}
            </div>
          )}
        </Shown>
        <Tabs defaultValue={may('billing:read') ? 'statements' : 'ledger'} keepMounted={false}>
          <Tabs.List mb="md">
            {may('billing:read') && <Tabs.Tab value="statements">Statements</Tabs.Tab>}
            {may('billing:read') && <Tabs.Tab value="prices">Prices</Tabs.Tab>}
            <Tabs.Tab value="ledger">Ledger</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="statements">
            <Statements />
          </Tabs.Panel>
          <Tabs.Panel value="prices">
            <Prices />
          </Tabs.Panel>
          <Tabs.Panel value="ledger">
            <Ledger />
          </Tabs.Panel>
        </Tabs>
      </Stack>
    </>
  );
}

function Balance({ balance, mayTopUp }: { balance: GetCreditsResponse['data'][number]; mayTopUp: boolean }) {
  const { livemode, available, held, promotional, is_low, top_up } = balance;
  const [amount, setAmount] = useState<number | string>(10_000);
  const topUp = useChange(
    (credits: number, idempotencyKey) =>
      request<CreditTopUp>('POST', '/credits/top-ups', {
        idempotencyKey,
        body: { livemode, credits, ...(livemode && { return_url: location.href }) },
      }),
    ['/credits', '/statements'],
  );
  return (
    <Card withBorder>
      <Stack gap="xs">
        <Group justify="space-between">
          <Text size="sm" c="dimmed">
            Balance
          </Text>
          <Status value={livemode ? 'live' : 'test'} />
        </Group>
        <Text size="xl" fw={700}>
          {formatCredits(available)}
        </Text>
        <Text size="sm">
          {is_low ? 'Low. ' : ''}
          {formatCredits(held)} held by open jobs; {formatCredits(promotional.credits)} promotional
        </Text>
        {mayTopUp && top_up !== 'unavailable' && (
          <Group align="end" gap="xs">
            <NumberInput
              label={livemode ? 'Buy credits' : 'Add test credits'}
              value={amount}
              onChange={setAmount}
              min={1}
              allowDecimal={false}
              thousandSeparator={THOUSANDS}
              w="9rem"
            />
            <Button
              variant="default"
              loading={topUp.isPending}
              disabled={typeof amount !== 'number' || amount < 1}
              onClick={() => topUp.mutate(Number(amount))}
            >
              {livemode ? 'Pay' : 'Add'}
            </Button>
          </Group>
        )}
        {mayTopUp && top_up === 'unavailable' && (
          <Text size="sm" c="dimmed">
            Credits cannot be bought here: no payment provider is connected. The operator of the service adds them.
          </Text>
        )}
        {topUp.error && <Failure error={topUp.error} />}
        <Text size="sm" role="status">
          {topUp.data?.status === 'completed' && `${formatCredits(topUp.data.credits)} added.`}
          {topUp.data?.checkout_url && <a href={topUp.data.checkout_url}>Go on to the payment</a>}
        </Text>
      </Stack>
    </Card>
  );
}

function Statements() {
  const statements = useGet<Page<ListStatementsResponseData>>('/statements', { query: { livemode: true } });
  return (
    <Shown of={statements}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="No statements">There is one for each month with live credits.</Empty>
        ) : (
          <Stack gap="xl">
            {data.map((statement) => (
              <Statement key={statement.month} statement={statement} />
            ))}
          </Stack>
        )
      }
    </Shown>
  );
}

function Statement({ statement }: { statement: ListStatementsResponseData }) {
  const { month, livemode, is_final, opening_balance, lines, closing_balance } = statement;
  const download = useChange(
    (asked: string) => request<string>('GET', `/statements/${asked}`, { query: { livemode }, accept: 'text/csv' }),
    [],
  );
  const rows = [
    { what: 'Opening balance', count: null, ...opening_balance },
    ...lines.map(({ kind, ...line }) => ({ what: KINDS[kind], ...line })),
    { what: 'Closing balance', count: null, ...closing_balance },
  ];
  return (
    <DataTable
      label={`Statement of ${month}`}
      caption={`${month}${is_final ? '' : ', so far'}`}
      rows={rows}
      keyOf={({ what }) => what}
      isStrong={({ count }) => count === null}
      columns={[
        { title: 'What', of: ({ what }) => what },
        { title: 'Count', of: ({ count }) => (count === null ? '' : formatNumber(count)) },
        { title: 'Credits', of: ({ credits }) => formatNumber(credits) },
        { title: 'US dollars', of: ({ usd }) => usd },
      ]}
    >
      <Group mt="xs" gap="sm">
        <Button
          size="xs"
          variant="default"
          loading={download.isPending}
          onClick={() => download.mutate(month, { onSuccess: (text) => save(`statement-${month}.csv`, text) })}
        >
          Download {month} as CSV
        </Button>
        <Text size="sm" c="dimmed">
          It lists the charges by endpoint.
        </Text>
      </Group>
      {download.error && <Failure error={download.error} />}
    </DataTable>
  );
}

function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

function Prices() {
  const prices = useGet<PriceList>('/prices');
  return (
    <Shown of={prices}>
      {({ data, credits_per_usd }) => (
        <>
          <Text size="sm" mb="xs">
            {formatNumber(credits_per_usd)} live credits are one US dollar. Test credits cost nothing.
          </Text>
          <DataTable
            label="Prices"
            rows={data}
            keyOf={({ endpoint }) => endpoint}
            columns={[
              { title: 'Endpoint', of: ({ endpoint }) => endpoint },
              { title: 'Credits', of: ({ price_credits: credits }) => formatNumber(credits) },
              { title: 'US dollars', of: ({ price_usd: usd }) => usd },
              { title: 'Depends on the request', of: ({ depends_on_request: depends }) => (depends ? 'yes' : 'no') },
            ]}
          />
        </>
      )}
    </Shown>
  );
}

function Ledger() {
  const transfers = usePages<CreditTransfer>('/credits/ledger', { limit: 25 });
  const rows = transfers.data?.pages.flatMap((page) => page.data);
  if (transfers.error) return <Failure error={transfers.error} onRetry={() => void transfers.refetch()} />;
  if (!rows) return <Loading />;
  if (rows.length === 0) return <Empty title="No transfers">Every credit that moves is listed here.</Empty>;
  return (
    <DataTable
      label="Ledger"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Time', of: ({ created }) => formatTime(created) },
        { title: 'What', of: ({ kind }) => KINDS[kind] },
        { title: 'Mode', of: ({ livemode }) => <Status value={livemode ? 'live' : 'test'} /> },
        { title: 'From', of: ({ from }) => from },
        { title: 'To', of: ({ to }) => to },
        { title: 'Credits', of: ({ credits }) => formatNumber(credits) },
        { title: 'Job or reason', of: ({ job_id: job, reason }) => job ?? reason ?? '–', isMono: true },
      ]}
    >
      <More pages={transfers} />
    </DataTable>
  );
}
