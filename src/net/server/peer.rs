//! What one client may hold: its share of the connections, and an answer only as long as it takes some of it.

use super::CONNECTIONS;
use super::guard::network;
use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Connections at once of one address, where other machines may connect.
const SHARE: usize = CONNECTIONS / 2;
/// How long a client may take nothing of an answer that is sent.
const STALLED: Duration = Duration::from_secs(30);

/// The connections of each address. Each holds a clone of what stands here, so that these are counted.
#[derive(Default)]
pub(super) struct Shares(HashMap<IpAddr, Arc<()>>);

impl Shares {
    /// A place of this address, unless it has all of its own.
    pub(super) fn place(&mut self, client: IpAddr) -> Option<Arc<()>> {
        self.0.retain(|_, own| Arc::strong_count(own) > 1);
        let own = self.0.entry(network(client)).or_default();
        (Arc::strong_count(own) <= SHARE).then(|| Arc::clone(own))
    }
}

/// A stream that fails once its peer has taken nothing for [`STALLED`] of what is written.
pub(super) struct Timed<S> {
    stream: S,
    /// Runs while a write waits.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Timed<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, stalled: None }
    }

    fn in_time<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(STALLED)));
        stalled.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Timed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Timed<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.in_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::{SHARE, STALLED, Shares, Timed};
    use std::io::ErrorKind;
    use std::net::IpAddr;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::{Duration, sleep};

    #[test]
    fn an_address_has_its_share_and_no_more() {
        let mut shares = Shares::default();
        let mut place = |address: &str| shares.place(address.parse::<IpAddr>().expect("an address"));
        let mut held: Vec<_> = (0..SHARE).map(|_| place("10.0.0.1").expect("a place")).collect();
        assert!(place("10.0.0.1").is_none() && place("::ffff:10.0.0.1").is_none());
        assert!(place("10.0.0.2").is_some());
        held.pop();
        held.extend(place("10.0.0.1"));
        assert_eq!((held.len(), place("10.0.0.1")), (SHARE, None), "one place was free");
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_nothing_is_cut_off_and_a_slow_one_is_not() {
        let (own, mut peer) = duplex(1);
        let sending = tokio::spawn(async move { Timed::new(own).write_all(b"abc").await });
        for byte in b"ab" {
            sleep(STALLED.saturating_sub(Duration::from_secs(1))).await;
            assert_eq!(peer.read_u8().await.expect("it is sent"), *byte);
        }
        sending.await.expect("it ends").expect("the last byte is on its way");
        let (own, _peer) = duplex(1);
        let failed = Timed::new(own).write_all(b"abc").await.expect_err("nobody reads");
        assert_eq!(failed.kind(), ErrorKind::TimedOut);
    }
}
