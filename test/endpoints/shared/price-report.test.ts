/** Reports of prices: the waterfall, and both formats. */
import { describe, expect, it } from 'vitest';
import { inspectArtefact } from '../../../src/artefacts/inspection/inspect-artefact.ts';
import { conversion, drawBars, noteOn, type Report, waterfall } from '../../../src/endpoints/shared/price-report.ts';
import { renderHtml } from '../../../src/endpoints/shared/report-as-page.ts';
import { renderPdf } from '../../../src/endpoints/shared/report-as-pdf.ts';
import { textOf } from '../../support/pdf.ts';

const steps = [
  { label: 'Mileage', amount: -12_345 },
  { label: 'Nothing', amount: 0 },
  { label: 'Equipment', amount: 5_000 },
];
const bars = waterfall({ label: 'Base', amount: 100_000 }, steps, 'Value', 'GBP');

const report = (changes: Partial<Report> = {}): Report => ({
  title: 'Vehicle valuation',
  lines: ['Škoda Octavia, ГАЗ & <script>alert(1)</script> 🚗'],
  sections: [{ kind: 'waterfall', title: 'Private', bars }],
  ...changes,
});
const CREATED_AT = new Date(0);

describe('a waterfall', () => {
  it('a waterfall leads from the first total to the last, without steps of nothing', () => {
    expect(bars.bars).toEqual([
      { label: 'Base', from: 0, to: 100_000, kind: 'total' },
      { label: 'Mileage', from: 100_000, to: 87_655, kind: 'fall' },
      { label: 'Equipment', from: 87_655, to: 92_655, kind: 'rise' },
      { label: 'Value', from: 0, to: 92_655, kind: 'total' },
    ]);
  });

  it('a waterfall draws each bar from where the one before ended, to scale', () => {
    const [base, fall, rise, value] = drawBars(bars) as [Drawn, Drawn, Drawn, Drawn];
    expect(fall.x + fall.width).toBeCloseTo(base.x + base.width, 6);
    expect(rise.x).toBeCloseTo(fall.x, 6);
    expect(rise.x + rise.width).toBeCloseTo(value.x + value.width, 6);
    expect(fall.width / rise.width).toBeCloseTo(12_345 / 5_000, 6);
  });

  it('a report in another currency names the rate in as many digits as mean something', () => {
    const rate = { base: 'EUR', quote: 'GBP', rate: 1 / 1.1737, rated_on: '2026-06-30' };
    expect(conversion(rate)).toBe('Converted at 0.852006 GBP for 1 EUR on 2026-06-30.');
  });

  it('a waterfall cuts off the bars of totals, and says so, only where the steps are small beside them', () => {
    const of = (amount: number) =>
      waterfall({ label: 'Base', amount: 100_000 }, [{ label: 'Step', amount }], 'Value', 'GBP');
    expect([noteOn(of(-30_000)), drawBars(of(-30_000))[2]?.width]).toEqual([null, expect.any(Number)]);
    expect(noteOn(of(-4_000))).toBe('The bars begin at 800.00 GBP.');
    expect(noteOn(of(-100_000))).toBeNull();
    const [base, step] = drawBars(of(-4_000)) as [Drawn, Drawn];
    expect(step.width / base.width).toBeCloseTo(4_000 / 20_000, 6);
  });
});

type Drawn = ReturnType<typeof drawBars>[number];

describe('the page', () => {
  it('the page of a report escapes what the request says, and runs and fetches nothing', () => {
    const page = renderHtml(report());
    expect(page).toContain('ГАЗ &amp; &lt;script&gt;alert(1)&lt;/script&gt;');
    expect(() => inspectArtefact(Buffer.from(page), 'text/html; charset=utf-8')).not.toThrow();
  });

  it.each([
    ['a script', '<script>1</script>'],
    ['a picture', '<img src="https://example.com/a.png">'],
    ['a handler', '<p onclick="1">'],
    ['a redirect', '<meta http-equiv="refresh" content="0">'],
    ['a style that fetches', '<style>p{background:url(//example.com)}</style>'],
  ])('a page with %s is no artefact', (_, content) => {
    const page = `<!doctype html><html>${content}</html>`;
    expect(() => inspectArtefact(Buffer.from(page), 'text/html; charset=utf-8')).toThrow('runs or is fetched');
  });
});

describe('the PDF', () => {
  it('the PDF of a report holds every label and amount, and equal input gives equal bytes', async () => {
    const pdf = await renderPdf(report({ lines: ['Talvera Lumo'] }), CREATED_AT);
    const text = textOf(pdf);
    for (const part of ['Base', '1,000.00 GBP', 'Mileage', '-123.45 GBP', '+50.00 GBP', 'Value', '926.55 GBP']) {
      expect(text).toContain(part);
    }
    expect(pdf.equals(await renderPdf(report({ lines: ['Talvera Lumo'] }), CREATED_AT))).toBe(true);
    expect(() => inspectArtefact(pdf, 'application/pdf')).not.toThrow();
  });

  it('the PDF of a report cuts no label of a waterfall', async () => {
    const label = '120,394 km fewer than is usual for the model at its age';
    const chart = waterfall(null, [{ label, amount: 1_234_500 }], 'Value', 'GBP');
    const long = report({ sections: [{ kind: 'waterfall', title: 'Private', bars: chart }] });
    expect(textOf(await renderPdf(long, CREATED_AT))).toContain(label);
    expect(renderHtml(long)).toContain(`>${label}<`);
  });

  it('the PDF of a report draws other scripts, and goes on over pages', async () => {
    const rows = Array.from({ length: 120 }, (_, at) => [`row ${at}`, `${at}`]);
    const table = { head: ['What', 'Amount'], rows, widths: [0.5, 0.5], amounts: [1], hasTotal: true };
    const sections: Report['sections'] = [
      { kind: 'table', title: 'Much', table },
      { kind: 'waterfall', title: 'After it', bars },
    ];
    const pdf = await renderPdf(report({ sections }), CREATED_AT);
    expect(pdf.toString('latin1')).toContain('Arimo');
    expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length).toBeGreaterThan(2);
    expect(textOf(pdf)).toContain('row 119');
  });
});
