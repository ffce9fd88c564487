// A page that draws the dashboard with Grafana's own published components: panels, graphs, legends, units, themes.
// drawing.py gives it the dashboard and Prometheus's answers in window.GIVEN, and reads what it says in #report.
//
// What a Grafana server does is not here: it imports no file, asks no data source and has no variables.
import 'uplot/dist/uPlot.min.css';

import {
  applyFieldOverrides,
  createTheme,
  type DataFrame,
  dateTime,
  EventBusSrv,
  FieldType,
  getValueFormats,
  standardFieldConfigEditorRegistry,
  ThemeContext,
} from '@grafana/data';
import { GlobalStyles, PanelChrome, PanelContextProvider, TimeSeries } from '@grafana/ui';
import { createRoot } from 'react-dom/client';

interface Series {
  name: string;
  labels: Record<string, string>;
  times: number[];
  values: number[];
}

// A panel of the dashboard, and the answers to its questions.
type Panel = any;

const given: { dashboard: any; answers: Record<string, Series[]>; from: number; to: number; step: number; heading: string } =
  (window as any).GIVEN;

// Of Grafana's grid: 24 columns, rows of 30 pixels and a gap of 8.
const COLUMNS = 24;
const ROW = 30;
const GAP = 8;
const MARGIN = 16;
const column = (window.innerWidth - 2 * MARGIN + GAP) / COLUMNS;

const fontFamily = '"Drawing", sans-serif';
const theme = createTheme({ colors: { mode: 'light' }, typography: { fontFamily } as any });
const eventBus = new EventBusSrv();
const range = { from: dateTime(given.from), to: dateTime(given.to) };
const timeRange = { ...range, raw: range };
const units = new Set(getValueFormats().flatMap((group) => group.submenu.map((unit) => unit.value)));

const problems: string[] = [];
window.addEventListener('error', (event) => problems.push(event.message));
window.addEventListener('unhandledrejection', (event) => problems.push(String(event.reason)));

// In a Grafana the panel's plugin sets these where the dashboard says nothing.
const defaults = { color: { mode: 'palette-classic' } };
const customDefaults = {
  axisPlacement: 'auto',
  gradientMode: 'none',
  hideFrom: { viz: false, legend: false, tooltip: false },
  lineInterpolation: 'linear',
  pointSize: 5,
  scaleDistribution: { type: 'linear' },
  spanNulls: false,
};

// A Grafana also registers every property that an override may set, and here are those that this dashboard sets.
function properties(): any[] {
  const property = (id: string, path: string, isCustom: boolean) => ({
    id,
    path,
    isCustom,
    name: id,
    process: (value: unknown) => value,
    shouldApply: () => true,
  });
  const used = new Set<string>(
    given.dashboard.panels.flatMap((panel: Panel) =>
      (panel.fieldConfig?.overrides ?? []).flatMap((rule: any) => rule.properties.map((one: any) => one.id))
    )
  );
  return [...used].map((id) => property(id, id.replace(/^custom\./, ''), id.startsWith('custom.')));
}
standardFieldConfigEditorRegistry.setInit(properties);

function frames(panel: Panel): DataFrame[] {
  const { custom, ...own } = panel.fieldConfig.defaults;
  if (!units.has(own.unit) && !/^(prefix|suffix):/.test(own.unit)) {
    problems.push(`${panel.title}: Grafana knows no unit ${own.unit}`);
  }
  const data = panel.targets.flatMap((target: any) =>
    given.answers[`${panel.id} ${target.refId}`].map((series) => ({
      refId: target.refId,
      name: series.name,
      length: series.times.length,
      fields: [
        { name: 'Time', type: FieldType.time, config: { interval: given.step }, values: series.times },
        {
          name: 'Value',
          type: FieldType.number,
          labels: series.labels,
          config: { ...defaults, ...own, custom: { ...customDefaults, ...custom }, displayNameFromDS: series.name },
          values: series.values,
        },
      ],
    }))
  );
  const fieldConfig = { defaults: {}, overrides: panel.fieldConfig.overrides };
  return applyFieldOverrides({ data, fieldConfig, theme, timeZone: 'utc', replaceVariables: (text) => text });
}

function Graph({ panel, width, height }: { panel: Panel; width: number; height: number }) {
  return (
    <PanelChrome title={panel.title} description={panel.description} width={width} height={height}>
      {(w, h) => (
        <TimeSeries frames={frames(panel)} width={w} height={h} timeRange={timeRange} timeZone="utc" legend={panel.options.legend} />
      )}
    </PanelChrome>
  );
}

function Place({ panel }: { panel: Panel }) {
  const { x, y, w, h } = panel.gridPos;
  const size = { width: w * column - GAP, height: h * (ROW + GAP) - GAP };
  return (
    <div id={`panel-${panel.id}`} style={{ position: 'absolute', left: x * column, top: y * (ROW + GAP), ...size }}>
      {panel.type === 'row' ? <div style={{ fontSize: 16, fontWeight: 500, lineHeight: `${ROW}px` }}>{panel.title}</div> : <Graph panel={panel} {...size} />}
    </div>
  );
}

function Dashboard() {
  return (
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <PanelContextProvider value={{ eventBus, eventsScope: 'dashboard', canAddAnnotations: () => false } as any}>
        <div style={{ fontSize: 22, margin: `12px ${MARGIN}px 6px` }}>
          {given.dashboard.title}
          <span style={{ fontSize: 14, marginLeft: 24, color: theme.colors.text.secondary }}>{given.heading}</span>
        </div>
        <div style={{ position: 'relative', margin: `0 ${MARGIN}px` }}>
          {given.dashboard.panels.map((panel: Panel) => (
            <Place key={panel.id} panel={panel} />
          ))}
        </div>
      </PanelContextProvider>
    </ThemeContext.Provider>
  );
}

// Whether anything is drawn where a panel has its graph, and the names in its legend.
function drawn(panel: Panel): { pixels: number; legend: string[] } {
  const place = document.getElementById(`panel-${panel.id}`)!;
  const canvas = place.querySelector('canvas');
  const pixels = canvas?.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height).data.filter((_, i) => i % 4 === 3).filter(Boolean).length;
  const names = [...place.querySelectorAll('[data-testid*="VizLegend series"]')].map((one) => one.textContent!.trim());
  return { pixels: pixels ?? 0, legend: names };
}

async function draw() {
  await Promise.all([400, 500].map((weight) => document.fonts.load(`${weight} 12px "Drawing"`)));
  document.body.style.background = theme.colors.background.canvas;
  createRoot(document.getElementById('root')!).render(<Dashboard />);
  await new Promise((done) => setTimeout(done, 2500));
  const graphs = given.dashboard.panels.filter((panel: Panel) => panel.type !== 'row');
  const panels = Object.fromEntries(graphs.map((panel: Panel) => [panel.title, drawn(panel)]));
  document.getElementById('report')!.textContent = JSON.stringify({ problems, panels });
}
draw().catch((error) => {
  document.getElementById('report')!.textContent = JSON.stringify({ problems: [...problems, String(error)], panels: {} });
});
