import { Component, type ReactNode } from 'react';
import { Failure } from './states.tsx';

/** A page that cannot be drawn, or whose script cannot be loaded, leaves the navigation usable. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    return error ? <Failure error={error} onRetry={() => this.setState({ error: null })} /> : this.props.children;
  }
}
