//! What keeps the server alive, and lets it end: a boundary for panics around each message, and an end of input that is
//! noticed whatever runs.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use futures_util::FutureExt;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::oneshot;
use tower::Service;
use tower_lsp::jsonrpc::{Error, Request, Response};

/// Around a service: a handler that panics answers with an internal error, and the next message is served as ever.
pub struct CatchPanic<S>(pub S);

impl<S> Service<Request> for CatchPanic<S>
where
    S: Service<Request, Response = Option<Response>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Option<Response>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Option<Response>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let id = request.id().cloned();
        let method = request.method().to_owned();
        let start = Instant::now();
        let called = std::panic::catch_unwind(AssertUnwindSafe(|| self.0.call(request)));
        Box::pin(async move {
            let answered = match called {
                Ok(future) => AssertUnwindSafe(future).catch_unwind().await,
                Err(panic) => Err(panic),
            };
            tracing::trace!("{method}: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
            answered.unwrap_or_else(|panic| {
                let what = in_words(&*panic);
                tracing::error!("{method} failed, which is a mistake in this program: {what}");
                let mut error = Error::internal_error();
                error.message = format!("{method} failed, which is a mistake in this program: {what}").into();
                Ok(id.map(|id| Response::from_error(id, error)))
            })
        })
    }
}

/// What a panic said.
pub fn in_words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without words".into())
}

/// Input that tells when it is over: the editor is gone then, and nothing that runs may keep the server alive.
pub struct Watched<R> {
    inner: R,
    over: Option<oneshot::Sender<()>>,
}

impl<R> Watched<R> {
    /// The input, and what hears of its end.
    pub fn new(inner: R) -> (Self, oneshot::Receiver<()>) {
        let (sender, receiver) = oneshot::channel();
        (Self { inner, over: Some(sender) }, receiver)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, into);
        let is_over = match &read {
            Poll::Ready(Ok(())) => into.filled().len() == before,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if let (true, Some(over)) = (is_over, self.over.take_if(|_| is_over)) {
            // Nobody listens any more when the server ends for another reason.
            let _ = over.send(());
        }
        read
    }
}
