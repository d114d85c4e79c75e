/** Bars by day. In a file of its own, because the library behind it is as large as the rest of the console. */
import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { formatNumber } from '../format.ts';

type Mode = 'live' | 'staging' | 'test';

interface ChartProps {
  /** One for each day; a mode without a value has none that day. */
  rows: ({ day: string } & Partial<Record<Mode, number>>)[];
  /** Those with a bar. */
  modes: readonly Mode[];
  /** What is counted. */
  label: string;
}

const COLOURS = { live: 'blue.6', staging: 'violet.5', test: 'gray.5' } as const;

export default function Chart({ rows, modes, label }: ChartProps) {
  return (
    <>
      <BarChart
        h={220}
        type="stacked"
        data={rows}
        dataKey="day"
        series={modes.map((name) => ({ name, color: COLOURS[name] }))}
        valueFormatter={formatNumber}
        yAxisProps={{ allowDecimals: false }}
        withLegend
        aria-hidden="true"
        barChartProps={{ accessibilityLayer: false }}
      />
      {/* Around the table: a table is as high as its rows, whatever its style says. */}
      <div className="visually-hidden">
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              {['Day', ...modes].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.day}>
                <th scope="row">{row.day}</th>
                {modes.map((mode) => (
                  <td key={mode}>{formatNumber(row[mode] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
