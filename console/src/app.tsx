/** The frame of every page: sign-in, navigation, and what concerns the whole page. */
import {
  ActionIcon,
  Alert,
  AppShell,
  Badge,
  Burger,
  Button,
  Center,
  Group,
  Loader,
  Menu,
  Modal,
  NavLink,
  Stack,
  Text,
  Title,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ComponentType, lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import type { Organization } from '../../src/client/management.ts';
import { useGet, useIsAway, useMember } from './api.ts';
import { inWords } from './format.ts';
import { ErrorBoundary } from './parts/error-boundary.tsx';
import { Failure, PageHead } from './parts/states.tsx';
import { finishRedirect, isCallback, signInByRedirect, signInInWindow, signOut, useSession } from './session.ts';

type Load = () => Promise<{ default: ComponentType }>;

interface Place {
  path: string;
  title: string;
  /** Without it the place is not offered. */
  permission: string;
  load: Load;
  page: ComponentType;
}

const place = (path: string, title: string, permission: string, load: Load): Place => ({
  path,
  title,
  permission,
  load,
  page: lazy(load),
});

const PLACES: readonly Place[] = [
  place('/console', 'Home', 'usage:read', () => import('./pages/home.tsx')),
  place('/console/playground', 'Playground', 'endpoints:read', () => import('./pages/playground.tsx')),
  place('/console/jobs', 'Jobs', 'jobs:read', () => import('./pages/jobs.tsx')),
  place('/console/keys', 'API keys', 'api_keys:read', () => import('./pages/keys.tsx')),
  place('/console/webhooks', 'Webhooks', 'webhook_endpoints:read', () => import('./pages/webhooks.tsx')),
  place('/console/usage', 'Usage', 'usage:read', () => import('./pages/usage.tsx')),
  place('/console/billing', 'Billing', 'credits:read', () => import('./pages/billing.tsx')),
  place('/console/licences', 'SDK licences', 'sdk_licenses:read', () => import('./pages/licences.tsx')),
  place('/console/organisation', 'Organisation', 'member:read', () => import('./pages/organisation.tsx')),
  place('/console/audit-log', 'Audit log', 'audit_log:read', () => import('./pages/audit-log.tsx')),
];

const JobPage = lazy(() => import('./pages/job.tsx'));
const WebhookPage = lazy(() => import('./pages/webhook.tsx'));

const SIGNED_OUT_PATH = '/console/signed-out';

export function App() {
  const session = useSession();
  return session === 'signed-out' ? <SignIn /> : <Frame />;
}

/** Signs in at once, except after a sign-out or a failure. */
function SignIn() {
  const [error, setError] = useState<Error | null>(null);
  const [, navigate] = useLocation();
  const isOut = location.pathname === SIGNED_OUT_PATH;
  const begun = useRef(false);
  useEffect(() => {
    if (begun.current || isOut) return;
    begun.current = true;
    if (!isCallback()) {
      signInByRedirect(location.pathname + location.search).catch(setError);
      return;
    }
    finishRedirect()
      .then((path) => path !== null && navigate(path, { replace: true }))
      .catch(setError);
    // The script of the page comes while the provider answers. What fails now is asked for again when it is drawn.
    PLACES.find(({ path }) => path === location.pathname)
      ?.load()
      .catch(() => {});
  }, [isOut, navigate]);
  const isWaiting = !isOut && error === null;
  return (
    <Center component="main" mih="100vh" p="md">
      <Stack align="center" maw="24rem">
        <Title order={1} size="h3">
          Vehicle Inference Console
        </Title>
        {isWaiting && <Loader aria-label="Signing in" />}
        {isOut && <Text>You are signed out.</Text>}
        {error && <Failure error={error} />}
        {!isWaiting && (
          <Button onClick={() => void signInByRedirect('/console', { askAgain: true }).catch(setError)}>Sign in</Button>
        )}
      </Stack>
    </Center>
  );
}

function Frame() {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const member = useMember();
  const [path] = useLocation();
  const burger = useRef<HTMLButtonElement>(null);
  useStartOfPage(path);
  const places = PLACES.filter(({ permission }) => member.data?.permissions.includes(permission));
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
      onKeyDown={({ key }) => {
        if (key !== 'Escape' || !isOpen) return;
        close();
        burger.current?.focus();
      }}
    >
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group wrap="nowrap" gap="sm">
            <Burger
              ref={burger}
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={isOpen ? 'Close the navigation' : 'Open the navigation'}
            />
            <Text fw={700} className="app-title">
              Vehicle Inference
            </Text>
            <OrganizationName />
          </Group>
          <Group wrap="nowrap" gap="xs">
            <ColorSchemeButton />
            {member.data && (
              <Menu position="bottom-end">
                <Menu.Target>
                  <Button variant="default" size="compact-md">
                    {inWords(member.data.role)}
                  </Button>
                </Menu.Target>
                <Menu.Dropdown>
                  <Menu.Label className="mono">{member.data.user_id}</Menu.Label>
                  <Menu.Item component="a" href="/docs" target="_blank">
                    Documentation
                  </Menu.Item>
                  <Menu.Item onClick={signOut}>Sign out</Menu.Item>
                </Menu.Dropdown>
              </Menu>
            )}
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className="navigation" p="xs" aria-label="Pages" data-closed={!isOpen || undefined}>
        {places.map(({ path: to, title }) => {
          const isHere = to === '/console' ? path === to || path === `${to}/` : path.startsWith(to);
          return (
            <NavLink
              key={to}
              component={Link}
              href={to}
              label={title}
              active={isHere}
              aria-current={isHere ? 'page' : undefined}
              variant="filled"
              onClick={close}
            />
          );
        })}
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <div id="dialogues" />
        <div className="page">
          <Away />
          {member.error && <Refused error={member.error} />}
          {member.data && (
            <ErrorBoundary key={path}>
              <Suspense fallback={<Loader aria-label="Loading" />}>
                <Switch>
                  {places.map(({ path: to, page }) => (
                    <Route key={to} path={to} component={page} />
                  ))}
                  <Route path="/console/jobs/:id">{({ id }) => <JobPage id={id} />}</Route>
                  <Route path="/console/webhooks/:id">{({ id }) => <WebhookPage id={id} />}</Route>
                  <Route>
                    <NotHere role={member.data.role} />
                  </Route>
                </Switch>
              </Suspense>
            </ErrorBoundary>
          )}
        </div>
      </AppShell.Main>
      <SignInAgain />
    </AppShell>
  );
}

/** A link leads to the start of its page, for eyes, keyboards and screen readers; the browser itself goes back to where one was. */
function useStartOfPage(path: string): void {
  const shown = useRef(path);
  const backTo = useRef<string | null>(null);
  useEffect(() => {
    const note = () => {
      backTo.current = location.pathname;
    };
    window.addEventListener('popstate', note);
    return () => window.removeEventListener('popstate', note);
  }, []);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    if (backTo.current !== path) window.scrollTo(0, 0);
    backTo.current = null;
    document.getElementById('main')?.focus({ preventScroll: true });
  }, [path]);
}

/** Such as a token for another service. */
function Refused({ error }: { error: Error }) {
  return (
    <Stack align="start">
      <Failure error={error} />
      <Button variant="default" onClick={signOut}>
        Sign in as somebody else
      </Button>
    </Stack>
  );
}

function NotHere({ role }: { role: string }) {
  return (
    <>
      <PageHead title="There is no such page" />
      <Text>Either the address is wrong, or the role {inWords(role)} does not have this page.</Text>
    </>
  );
}

function OrganizationName() {
  const member = useMember();
  const mayRead = member.data?.permissions.includes('organization:read') ?? false;
  const { data } = useGet<Organization>('/organization', { enabled: mayRead });
  const name = data?.name ?? member.data?.organization_id;
  return name === undefined ? null : (
    <Badge variant="default" tt="none" maw="50vw">
      {name}
    </Badge>
  );
}

function ColorSchemeButton() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={`Switch to ${other} colours`}
      onClick={() => setColorScheme(other)}
    >
      <svg width="18" height="18" viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="12" r="9" fill="none" stroke="currentColor" strokeWidth="2" />
        <path d="M12 3a9 9 0 0 1 0 18z" fill="currentColor" />
      </svg>
    </ActionIcon>
  );
}

/** Reads go on by themselves once the service is back. */
function Away() {
  const isAway = useIsAway();
  return (
    <div role="status">
      {isAway && (
        <Alert color="orange" title="The service cannot be reached" mb="md">
          What you see may be out of date. The console tries again every few seconds; nothing that you typed is lost.
        </Alert>
      )}
    </div>
  );
}

/** Over the page, which keeps what was typed. Requests that wait go on after the sign-in. */
function SignInAgain() {
  const session = useSession();
  const [error, setError] = useState<Error | null>(null);
  return (
    <Modal
      opened={session === 'expired'}
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      // Above every other dialogue.
      zIndex={400}
      title="Your session has expired"
      centered
    >
      <Stack>
        <Text>Sign in again in a window of its own. This page stays as it is, and goes on where it stopped.</Text>
        {error && <Failure error={error} />}
        <Button
          data-autofocus
          onClick={() => {
            setError(null);
            signInInWindow().catch(setError);
          }}
        >
          Sign in again
        </Button>
      </Stack>
    </Modal>
  );
}
