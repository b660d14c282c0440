import express from 'express';

export const read = () => express.json();
