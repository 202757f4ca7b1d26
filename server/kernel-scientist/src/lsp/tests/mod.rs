//! Tests of the server: features on marked-up texts, and the whole server over pipes within the process.

mod documents;
mod editor;
mod features;
mod guards;
mod jobs;
mod marks;
mod protocol;
