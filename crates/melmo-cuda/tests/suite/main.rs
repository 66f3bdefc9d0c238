//! Solvers of the library with points on a machine of kernels. Without a GPU the kernels' bodies are compiled for this machine, and a loop
//! over threads stands for one; with `MELMO_TEST_GPU=1` (`./test gpu`) the same tests run on GPU 0.

mod chains;
mod emulator;
mod equivalence;
mod formulas;
mod golden;
mod kernels;
mod laws;
mod matrices;
mod numbers;
mod refusals;
mod strips;
